//! `git http-backend`, git's own program, behind our HTTPS server.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::{Bytes, Frame};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::Command;

use crate::https::{Handler, Request, Response, response};
use crate::repo::environment;

/// How a server is set up.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The value of `Authorization` that it demands.
    pub demands: Option<String>,
    /// It knows nothing of newer protocols.
    pub version_0: bool,
}

/// Serves the repositories below a folder.
pub fn handler(root: &Path, options: Options) -> Handler {
    let root = root.to_owned();
    Arc::new(move |request| {
        let (root, options) = (root.clone(), options.clone());
        Box::pin(async move {
            let given = request
                .headers()
                .get("authorization")
                .and_then(|value| value.to_str().ok());
            if options.demands.is_some() && options.demands.as_deref() != given {
                let challenge = ("www-authenticate", "Basic realm=\"git\"");
                return response(401, &[challenge], "unauthorized: try hunter2");
            }
            serve(root, request, options.version_0).await
        })
    })
}

/// Runs the program for one request.
pub async fn serve(root: PathBuf, request: Request, version_0: bool) -> Response {
    let header = |name: &str| {
        request
            .headers()
            .get(name)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
            .to_owned()
    };
    let mut command = Command::new("git");
    command
        .arg("http-backend")
        .env_clear()
        .envs(environment())
        .env("GIT_PROJECT_ROOT", &root)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("PATH_INFO", percent_decoded(request.uri().path()))
        .env("QUERY_STRING", request.uri().query().unwrap_or_default())
        .env("REQUEST_METHOD", request.method().as_str())
        .env("CONTENT_TYPE", header("content-type"))
        // git compresses long requests.
        .env("HTTP_CONTENT_ENCODING", header("content-encoding"))
        .env("CONTENT_LENGTH", request.body().len().to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    if !version_0 {
        command.env("GIT_PROTOCOL", header("git-protocol"));
    }
    let mut child = command.spawn().expect("git: install the Debian package git");
    let mut input = child.stdin.take().unwrap();
    let body = request.into_body();
    tokio::spawn(async move {
        let _ = input.write_all(&body).await;
    });
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut response = hyper::Response::builder().status(200);
    loop {
        let mut line = String::new();
        let length = output.read_line(&mut line).await.unwrap_or_default();
        let line = line.trim_end();
        if length == 0 || line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(": ").unwrap();
        response = if name.eq_ignore_ascii_case("status") {
            response.status(value[..3].parse::<u16>().unwrap())
        } else {
            response.header(name, value)
        };
    }
    let chunks = futures_stream(output, child);
    response.body(StreamBody::new(chunks).boxed()).unwrap()
}

fn futures_stream(
    output: BufReader<tokio::process::ChildStdout>,
    child: tokio::process::Child,
) -> impl futures::Stream<Item = std::io::Result<Frame<Bytes>>> + Send + Sync {
    futures::stream::unfold((output, child), |(mut output, child)| async move {
        let mut chunk = vec![0; 16 << 10];
        match output.read(&mut chunk).await {
            Ok(0) => None,
            Ok(length) => {
                chunk.truncate(length);
                Some((Ok(Frame::data(chunk.into())), (output, child)))
            }
            Err(error) => Some((Err(error), (output, child))),
        }
    })
}

fn percent_decoded(path: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let hex: String = rest.by_ref().take(2).map(char::from).collect();
            bytes.push(u8::from_str_radix(&hex, 16).unwrap());
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).unwrap()
}
