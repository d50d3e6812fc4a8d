//! Smart HTTP over the shared client.
//!
//! Promises: only the first request follows redirects, and only to the same repository elsewhere; a credential is sent
//! where it was granted and, once rejected, not again; a body is read as it comes.

use std::io::{self, BufRead, Read, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gix_error::ErrorExt as _;
use gix_transport::client::blocking_io::http::{GetResponse, Http, PostBodyDataKind, PostResponse};
use reqwest::Method;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use tokio_util::bytes::{Buf as _, Bytes};
use url::Url;

use super::Error;
use super::wire::Wire;
use crate::net::{self, Client, Credential, Request, Response};

/// What the first request asks for, below the repository.
const REFS: &str = "info/refs?service=git-upload-pack";

/// The protocol library's idea of HTTP, on our client.
pub(super) struct Backend {
    wire: Wire,
    client: Client,
    credential: Option<Credential>,
    /// A redirect led away from where the credential was granted for, whether or not it came back.
    left_authority: bool,
    /// The repository, with a slash at its end; where it was redirected to, from then on.
    base: String,
}

impl Backend {
    pub(super) fn new(wire: Wire, client: Client, credential: Option<Credential>, repository: &Url) -> Self {
        Self {
            wire,
            client,
            credential,
            left_authority: false,
            base: format!("{}/", repository.as_str().trim_end_matches('/')),
        }
    }

    fn request(
        &self,
        method: Method,
        below: &str,
        headers: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Result<Request, Error> {
        // Not the library's idea of the URL: it would be written anew from its parts.
        let url = format!("{}{below}", self.base);
        let mut map = HeaderMap::new();
        for header in headers {
            let (name, value) = header.as_ref().split_once(':').unwrap_or_default();
            // The library's own headers are plain ASCII.
            if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), HeaderValue::from_str(value.trim())) {
                map.append(name, value);
            }
        }
        Ok(Request {
            method,
            url: Url::parse(&url).map_err(|_| net::Error::InvalidUrl("its URL cannot be read"))?,
            headers: map,
            body: Bytes::new(),
            credential: self.credential.clone().filter(|_| !self.left_authority),
        })
    }

    fn first(&mut self, request: Request) -> Result<Response, Error> {
        let host = self.wire.host.clone();
        let same = |url: &Url| {
            if url.as_str().ends_with(REFS) {
                Ok(())
            } else {
                Err(Error::RedirectTarget { host: host.clone() })
            }
        };
        let asked = request.url.clone();
        let wire = self.wire.clone();
        let response = wire
            .block(async {
                let response = self.client.follow(&wire.attempt, request, same).await?;
                accept(response, self.credential.as_ref(), "advertisement")
            })
            .map_err(|_| wire.failure(|| Error::Protocol { host: host.clone() }))?;
        if *response.url() != asked {
            let base = response.url().as_str().strip_suffix(REFS);
            self.base = base.unwrap_or_default().to_owned();
            self.wire.host = response.host().to_owned();
            // Whoever was asked without it may have chosen where the rest goes.
            self.left_authority = !response.credential_sent;
        }
        Ok(response)
    }
}

/// An answer that carries the protocol, or what it is instead.
fn accept(response: Response, credential: Option<&Credential>, kind: &str) -> Result<Response, Error> {
    let host = response.host().to_owned();
    match response.status().as_u16() {
        200 => {}
        401 if response.credential_sent => return Err(Error::AuthenticationFailed { host }),
        401 => {
            return Err(match credential {
                Some(credential) => Error::RedirectedCredential {
                    host,
                    granted: credential.authority.to_string(),
                },
                None => Error::AuthenticationRequired { host },
            });
        }
        403 => return Err(Error::AccessDenied { host }),
        404 | 410 => return Err(Error::RepositoryNotFound { host }),
        300..=399 => return Err(Error::RedirectTarget { host }),
        _ => return Err(response.failure().into()),
    }
    let wanted = format!("application/x-git-upload-pack-{kind}");
    let found = response.headers().get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    if found == Some(wanted.as_bytes()) {
        Ok(response)
    } else {
        Err(Error::NotAGitServer { host })
    }
}

impl Http for Backend {
    type Headers = Headers;
    type ResponseBody = Body;
    type PostBody = PostBody;

    fn get(
        &mut self,
        _url: &str,
        _base_url: &str,
        headers: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> gix_error::Result<GetResponse<Headers, Body>> {
        let response = self
            .request(Method::GET, REFS, headers)
            .and_then(|request| self.first(request));
        match response {
            Ok(response) => {
                let exchange = Exchange::of(self, State::Answered(response));
                Ok(GetResponse {
                    headers: exchange.headers(),
                    body: exchange.body(),
                })
            }
            Err(error) => Err(gix_error::message!("{}", self.wire.fail(error)).raise()),
        }
    }

    fn post(
        &mut self,
        _url: &str,
        _base_url: &str,
        headers: impl IntoIterator<Item = impl AsRef<str>>,
        _body: PostBodyDataKind,
    ) -> gix_error::Result<PostResponse<Headers, Body, PostBody>> {
        match self.request(Method::POST, "git-upload-pack", headers) {
            Ok(request) => {
                let exchange = Exchange::of(self, State::Collecting(Box::new(request), Vec::new()));
                Ok(PostResponse {
                    headers: exchange.headers(),
                    body: exchange.body(),
                    post_body: PostBody(exchange),
                })
            }
            Err(error) => Err(gix_error::message!("{}", self.wire.fail(error)).raise()),
        }
    }

    fn configure(&mut self, _config: &dyn std::any::Any) -> gix_error::Result<()> {
        Ok(())
    }
}

/// One request and its answer. The request is sent when the answer is first read: what the library writes before that
/// is the body, a list of object ids, small enough to be held.
#[derive(Clone)]
struct Exchange {
    wire: Wire,
    client: Client,
    credential: Option<Credential>,
    state: Arc<Mutex<State>>,
}

enum State {
    Collecting(Box<Request>, Vec<u8>),
    Answered(Response),
    Over,
}

impl Exchange {
    fn of(backend: &Backend, state: State) -> Self {
        Self {
            wire: backend.wire.clone(),
            client: backend.client.clone(),
            credential: backend.credential.clone(),
            state: Arc::new(Mutex::new(state)),
        }
    }

    fn headers(&self) -> Headers {
        Headers {
            exchange: self.clone(),
            line: None,
        }
    }

    fn body(&self) -> Body {
        Body {
            exchange: self.clone(),
            chunk: Bytes::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends the request if that was not done yet.
    fn answer(&self) -> io::Result<()> {
        let mut state = self.lock();
        *state = match std::mem::replace(&mut *state, State::Over) {
            State::Collecting(mut request, body) => {
                request.body = body.into();
                let response = self.wire.block(async {
                    let response = self.client.send(&self.wire.attempt, *request).await?;
                    accept(response, self.credential.as_ref(), "result")
                })?;
                State::Answered(response)
            }
            other => other,
        };
        Ok(())
    }

    fn chunk(&self) -> io::Result<Option<Bytes>> {
        self.answer()?;
        match &mut *self.lock() {
            State::Answered(response) => {
                let chunk = self
                    .wire
                    .block(async { Ok(response.chunk(&self.wire.attempt).await?) })?;
                self.wire.hear(chunk.as_deref().unwrap_or_default());
                Ok(chunk)
            }
            _ => Ok(None),
        }
    }
}

/// The one header that the library looks at; judged already.
pub(super) struct Headers {
    exchange: Exchange,
    line: Option<io::Cursor<Vec<u8>>>,
}

impl Headers {
    fn line(&mut self) -> io::Result<&mut io::Cursor<Vec<u8>>> {
        if self.line.is_none() {
            self.exchange.answer()?;
            let value = match &*self.exchange.lock() {
                State::Answered(response) => response.headers().get(CONTENT_TYPE).cloned(),
                _ => None,
            };
            let mut line = b"content-type: ".to_vec();
            line.extend(value.iter().flat_map(|value| value.as_bytes()));
            line.push(b'\n');
            self.line = Some(io::Cursor::new(line));
        }
        Ok(self.line.get_or_insert_default())
    }
}

impl Read for Headers {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.line()?.read(buffer)
    }
}

impl BufRead for Headers {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.line()?.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        if let Some(line) = &mut self.line {
            line.consume(amount);
        }
    }
}

/// The answer's body as it comes.
pub(super) struct Body {
    exchange: Exchange,
    chunk: Bytes,
}

impl Read for Body {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.fill_buf()?.read(buffer)?;
        self.consume(length);
        Ok(length)
    }
}

impl BufRead for Body {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.chunk.is_empty() {
            match self.exchange.chunk()? {
                Some(chunk) => self.chunk = chunk,
                None => break,
            }
        }
        Ok(&self.chunk)
    }

    fn consume(&mut self, amount: usize) {
        self.chunk.advance(amount);
    }
}

/// What the library writes.
pub(super) struct PostBody(Exchange);

impl Write for PostBody {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut *self.0.lock() {
            State::Collecting(_, body) => {
                body.extend_from_slice(bytes);
                Ok(bytes.len())
            }
            _ => Err(io::Error::other("the request was sent already")),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
