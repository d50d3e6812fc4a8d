//! An HTTPS server whose answers a test chooses, and a record of what was asked.

use std::convert::Infallible;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use rustls::ServerConfig;
use tokio::net::TcpListener;
use tokio::task::AbortHandle;
use tokio_rustls::TlsAcceptor;

pub type Body = BoxBody<Bytes, std::io::Error>;
pub type Request = hyper::Request<Bytes>;
pub type Response = hyper::Response<Body>;
pub type Answer = Pin<Box<dyn Future<Output = Response> + Send>>;
pub type Handler = Arc<dyn Fn(Request) -> Answer + Send + Sync>;

/// What was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    pub method: String,
    pub target: String,
    pub host: String,
    pub authorization: Option<String>,
    pub git_protocol: Option<String>,
    pub body: Vec<u8>,
}

/// A running server; it ends when it is dropped.
pub struct Site {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
    task: AbortHandle,
}

impl Drop for Site {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Site {
    /// Serves TLS, or plain http without a configuration, on loopback.
    pub async fn start(tls: Option<Arc<ServerConfig>>, handler: Handler) -> Self {
        Self::on(std::net::TcpListener::bind("127.0.0.1:0").unwrap(), tls, handler)
    }

    /// The same on a listener of somebody else's; called on a runtime.
    pub fn on(listener: std::net::TcpListener, tls: Option<Arc<ServerConfig>>, handler: Handler) -> Self {
        listener.set_nonblocking(true).unwrap();
        let listener = TcpListener::from_std(listener).unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let task = tokio::spawn(serve(listener, tls, handler, Arc::clone(&seen))).abort_handle();
        Self { address, seen, task }
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// `https://<host>:<port><path>`.
    pub fn url(&self, host: &str, path: &str) -> String {
        format!("https://{host}:{}{path}", self.port())
    }

    /// What was asked so far, without what was asked before the last call.
    pub fn take_seen(&self) -> Vec<Seen> {
        std::mem::take(&mut self.seen.lock().unwrap())
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

async fn serve(
    listener: TcpListener,
    tls: Option<Arc<ServerConfig>>,
    handler: Handler,
    seen: Arc<Mutex<Vec<Seen>>>,
) {
    // Connections end with the listener.
    let mut connections = tokio::task::JoinSet::new();
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let (tls, handler, seen) = (tls.clone(), Arc::clone(&handler), Arc::clone(&seen));
        connections.spawn(async move {
            let service = service_fn(move |request| answer(request, Arc::clone(&handler), Arc::clone(&seen)));
            let builder = Builder::new(TokioExecutor::new());
            // A client may go away at any time.
            match tls {
                Some(tls) => {
                    if let Ok(stream) = TlsAcceptor::from(tls).accept(stream).await {
                        let _ = builder.serve_connection(TokioIo::new(stream), service).await;
                    }
                }
                None => {
                    let _ = builder.serve_connection(TokioIo::new(stream), service).await;
                }
            }
        });
        while connections.try_join_next().is_some() {}
    }
}

async fn answer(
    request: hyper::Request<Incoming>,
    handler: Handler,
    seen: Arc<Mutex<Vec<Seen>>>,
) -> Result<Response, Infallible> {
    let (parts, body) = request.into_parts();
    let body = body
        .collect()
        .await
        .map(|body| body.to_bytes())
        .unwrap_or_default();
    let header = |name: &str| {
        parts
            .headers
            .get(name)
            .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    seen.lock().unwrap().push(Seen {
        method: parts.method.to_string(),
        target: parts
            .uri
            .path_and_query()
            .map(ToString::to_string)
            .unwrap_or_default(),
        host: header("host")
            .or_else(|| parts.uri.authority().map(ToString::to_string))
            .unwrap_or_default(),
        authorization: header("authorization"),
        git_protocol: header("git-protocol"),
        body: body.to_vec(),
    });
    Ok(handler(hyper::Request::from_parts(parts, body)).await)
}

/// A handler from a function that answers at once.
pub fn handler(answer: impl Fn(&Request) -> Response + Send + Sync + 'static) -> Handler {
    Arc::new(move |request| {
        let response = answer(&request);
        Box::pin(async move { response })
    })
}

/// A status, headers and a body.
pub fn response(status: u16, headers: &[(&str, &str)], body: impl Into<Bytes>) -> Response {
    let mut response = hyper::Response::builder().status(status);
    for (name, value) in headers {
        response = response.header(*name, *value);
    }
    response.body(full(body)).unwrap()
}

/// A body that is there already.
pub fn full(body: impl Into<Bytes>) -> Body {
    Full::new(body.into()).map_err(|never| match never {}).boxed()
}
