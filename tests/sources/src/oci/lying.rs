//! A registry that does what the rules of a test say, and what an honest one does where they say nothing.
//!
//! A rule is a line, `SERVER METHOD PATH [auth=…] [accept=…] [xN] -> STATUS [; Header: value]… [; BODY]`: `*` in a path, an
//! `auth` or an `accept` stands for any text, `xN` ends the rule after N requests. Bodies: `body TEXT`, `fill N`, `stall N` (N bytes,
//! then silence), `cut N` (N bytes of more), `endless`. Every request is written down as it came.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, Method, Response, StatusCode, header};
use axum_server::tls_rustls::RustlsConfig;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::StreamExt as _;
use serde_json::json;

use super::store::{INDEX, Store};
use super::tls::Tls;

/// What came, to any server of a test, in order.
#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    /// Every request so far.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn push(&self, line: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    }
}

/// One line of a script.
pub struct Rule {
    server: String,
    method: String,
    path: String,
    auth: String,
    accept: String,
    left: AtomicUsize,
    status: StatusCode,
    headers: Vec<(String, String)>,
    body: Answer,
}

#[derive(Clone)]
enum Answer {
    Text(String),
    Fill(usize),
    Stall(usize),
    Cut(usize),
    Endless,
}

impl Rule {
    /// Reads a line.
    ///
    /// # Panics
    /// When it is none.
    #[must_use]
    pub fn parse(line: &str) -> Self {
        let (asked, answered) = line
            .split_once(" -> ")
            .unwrap_or_else(|| panic!("no rule: {line}"));
        let mut words = asked.split(' ');
        let mut word = || {
            words
                .next()
                .unwrap_or_else(|| panic!("no rule: {line}"))
                .to_owned()
        };
        let (server, method, path) = (word(), word(), word());
        let (mut auth, mut accept, mut left) = ("*".to_owned(), "*".to_owned(), usize::MAX);
        for word in words {
            if let Some(pattern) = word.strip_prefix("auth=") {
                auth = pattern.replace('+', " ");
            } else if let Some(pattern) = word.strip_prefix("accept=") {
                accept = pattern.to_owned();
            } else {
                left = word
                    .trim_start_matches('x')
                    .parse()
                    .expect("how often the rule holds");
            }
        }
        let mut parts = answered.split(" ; ");
        let status = parts
            .next()
            .and_then(|status| status.trim().parse().ok())
            .expect("a status");
        let (mut headers, mut body) = (Vec::new(), Answer::Text(String::new()));
        for part in parts {
            let (name, rest) = part.split_once(' ').unwrap_or((part, ""));
            let number = || rest.parse().expect("a number");
            body = match name {
                "body" => Answer::Text(rest.to_owned()),
                "fill" => Answer::Fill(number()),
                "stall" => Answer::Stall(number()),
                "cut" => Answer::Cut(number()),
                "endless" => Answer::Endless,
                _ => {
                    let (name, value) = part
                        .split_once(": ")
                        .unwrap_or_else(|| panic!("no header: {part}"));
                    headers.push((name.to_owned(), value.to_owned()));
                    continue;
                }
            };
        }
        Self {
            server,
            method,
            path,
            auth,
            accept,
            left: AtomicUsize::new(left),
            status,
            headers,
            body,
        }
    }

    /// Whether this rule answers; `path` is the rule's own with its names filled in.
    fn takes(&self, came: &Came, path: &str) -> bool {
        let matches = self.server == came.server
            && (self.method == came.method || self.method == "*")
            && glob(path, &came.path)
            && glob(&self.auth, &came.auth)
            && glob(&self.accept, &came.accept);
        let once = |left: usize| left.checked_sub(1);
        let relaxed = Ordering::Relaxed;
        matches && self.left.fetch_update(relaxed, relaxed, once).is_ok()
    }
}

/// A request, as far as rules look at it.
struct Came {
    server: &'static str,
    method: String,
    path: String,
    auth: String,
    accept: String,
}

fn glob(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((front, rest)) => text.strip_prefix(front).is_some_and(|text| {
            (0..=text.len()).any(|at| text.get(at..).is_some_and(|tail| glob(rest, tail)))
        }),
    }
}

/// What the servers of one test share.
pub struct Script {
    /// The rules, of which the first that takes a request answers it.
    pub rules: Vec<Rule>,
    /// What is served otherwise.
    pub store: Store,
    /// Names in braces, and what they stand for.
    pub names: Vec<(String, String)>,
    /// What came.
    pub log: Log,
}

impl Script {
    fn fill(&self, text: &str) -> String {
        let names = self.names.iter();
        names.fold(text.to_owned(), |text, (name, value)| {
            text.replace(&format!("{{{name}}}"), value)
        })
    }
}

/// A port of loopback, taken before it is known who listens on it.
///
/// # Panics
/// When there is none.
#[must_use]
pub fn listener() -> (std::net::TcpListener, String) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port of loopback");
    let authority = listener
        .local_addr()
        .expect("a bound port has an address")
        .to_string();
    listener
        .set_nonblocking(true)
        .expect("a listener may be told not to wait");
    (listener, authority)
}

/// A running server; ends with the value.
pub struct Lying(axum_server::Handle<std::net::SocketAddr>);

impl Lying {
    /// Serves the script under `name` on a port that was taken.
    ///
    /// # Panics
    /// When the certificate is none.
    pub async fn start(
        name: &'static str,
        listener: std::net::TcpListener,
        tls: Option<&Tls>,
        script: Arc<Script>,
    ) -> Self {
        let app = axum::Router::new().fallback(move |request: Request| {
            let script = Arc::clone(&script);
            async move { answer(name, &script, request).await }
        });
        let handle = axum_server::Handle::new();
        let service = app.into_make_service();
        match tls {
            Some(tls) => {
                let (certificate, key) = (tls.certificate.clone().into_bytes(), tls.key.clone().into_bytes());
                let config = RustlsConfig::from_pem(certificate, key)
                    .await
                    .expect("the certificate is one");
                let server = axum_server::from_tcp_rustls(listener, config).expect("a server on the port");
                tokio::spawn(server.handle(handle.clone()).serve(service));
            }
            None => {
                let server = axum_server::from_tcp(listener).expect("a server on the port");
                tokio::spawn(server.handle(handle.clone()).serve(service));
            }
        }
        Self(handle)
    }
}

impl Lying {
    /// Serves anything else over plain http.
    ///
    /// # Panics
    /// When the port cannot be served.
    pub async fn serve(listener: std::net::TcpListener, app: axum::Router) -> Self {
        let handle = axum_server::Handle::new();
        let server = axum_server::from_tcp(listener).expect("a server on the port");
        tokio::spawn(server.handle(handle.clone()).serve(app.into_make_service()));
        Self(handle)
    }
}

impl Drop for Lying {
    fn drop(&mut self) {
        self.0.shutdown();
    }
}

fn proof(headers: &HeaderMap) -> String {
    let value = headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok());
    let Some(value) = value else {
        return "-".to_owned();
    };
    match value.strip_prefix("Basic ").map(|text| STANDARD.decode(text)) {
        Some(Ok(pair)) => format!("Basic {}", String::from_utf8_lossy(&pair)),
        _ => value.to_owned(),
    }
}

async fn answer(server: &'static str, script: &Script, request: Request) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let accept = parts
        .headers
        .get(header::ACCEPT)
        .and_then(|value| value.to_str().ok());
    let came = Came {
        server,
        method: parts.method.to_string(),
        path: parts
            .uri
            .path_and_query()
            .map_or("/", |path| path.as_str())
            .to_owned(),
        auth: proof(&parts.headers),
        accept: accept.unwrap_or_default().to_owned(),
    };
    let sent = to_bytes(body, 1 << 20).await.unwrap_or_default();
    let mut line = format!("{server} {} {} {}", came.method, came.path, came.auth);
    if !sent.is_empty() {
        line = format!("{line} {}", String::from_utf8_lossy(&sent));
    }
    script.log.push(line);
    let mut rules = script.rules.iter();
    match rules.find(|rule| rule.takes(&came, &script.fill(&rule.path))) {
        Some(rule) => said(script, rule),
        None => honest(script, &parts.method, parts.uri.path()),
    }
}

fn said(script: &Script, rule: &Rule) -> Response<Body> {
    let mut response = Response::builder().status(rule.status);
    for (name, value) in &rule.headers {
        response = response.header(name, script.fill(value));
    }
    let piece = |size: usize| Ok::<_, std::io::Error>(axum::body::Bytes::from(vec![b'x'; size]));
    let body = match &rule.body {
        Answer::Text(text) => Body::from(script.fill(text)),
        Answer::Fill(size) => {
            let pieces = (0..*size).step_by(1 << 16).map(|at| (*size - at).min(1 << 16));
            Body::from_stream(futures::stream::iter(pieces.map(piece).collect::<Vec<_>>()))
        }
        Answer::Stall(size) => {
            Body::from_stream(futures::stream::iter([piece(*size)]).chain(futures::stream::pending()))
        }
        Answer::Cut(size) => {
            // What was sent has to leave before the connection breaks.
            let broken = futures::stream::once(async {
                tokio::task::yield_now().await;
                Err(std::io::Error::other("cut"))
            });
            Body::from_stream(futures::stream::iter([piece(*size)]).chain(broken))
        }
        Answer::Endless => Body::from_stream(futures::stream::repeat_with(move || piece(1 << 16))),
    };
    response.body(body).expect("the rule's headers are headers")
}

fn honest(script: &Script, method: &Method, path: &str) -> Response<Body> {
    let store = &script.store;
    let name = |kind: &str| path.split_once(kind).map(|(_, name)| name);
    let respond = |media_type: &str, digest: Option<&str>, bytes: &[u8]| {
        let mut response = Response::builder().header(header::CONTENT_TYPE, media_type);
        if let Some(digest) = digest {
            response = response.header("Docker-Content-Digest", digest);
        }
        response = response.header(header::CONTENT_LENGTH, bytes.len());
        let body = if *method == Method::HEAD {
            Body::empty()
        } else {
            Body::from(bytes.to_vec())
        };
        response.body(body).expect("a response")
    };
    if let Some(name) = name("/manifests/")
        && let Some((bytes, media_type)) = store.manifests.get(name)
    {
        let digest = ptah_contract::digest::Digest::of(bytes).to_string();
        return respond(media_type, Some(&digest), bytes);
    }
    if let Some(digest) = name("/blobs/")
        && let Some(bytes) = store.blobs.get(digest)
    {
        return respond("application/octet-stream", Some(digest), bytes);
    }
    if name("/referrers/").is_some()
        && let Some(listed) = &store.referrers
    {
        let index = json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": listed});
        return respond(INDEX, None, index.to_string().as_bytes());
    }
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}
