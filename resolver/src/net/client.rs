//! HTTPS as sources use it: one request, or one request and the redirects that it meets.

use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue, LOCATION};
use reqwest::{Method, StatusCode};
use tokio_util::bytes::Bytes;
use url::Url;

use super::{Attempt, Authority, Error, Limits, Network, Trust};

/// Redirects that are followed.
pub const MAX_REDIRECTS: usize = 5;

/// A credential with the one authority that it may be sent to.
#[derive(Clone, Debug)]
pub struct Credential {
    /// Where it may go.
    pub authority: Authority,
    /// The value of `Authorization`, marked as sensitive.
    pub value: HeaderValue,
    /// Whether it may go over plain http; the owner's explicit grant.
    pub plain_http: bool,
}

impl Credential {
    /// For https only.
    ///
    /// # Errors
    /// [`Error::InvalidUrl`] when the value cannot stand in a header.
    pub fn new(authority: Authority, value: &str) -> Result<Self, Error> {
        let mut value = HeaderValue::from_str(value)
            .map_err(|_| Error::InvalidUrl("its credential holds a character that a header cannot"))?;
        value.set_sensitive(true);
        Ok(Self {
            authority,
            value,
            plain_http: false,
        })
    }

    /// Whether it may be sent to this URL.
    #[must_use]
    pub fn is_for(&self, url: &Url) -> bool {
        (url.scheme() == "https" || self.plain_http)
            && Authority::of(url).is_ok_and(|authority| authority == self.authority)
    }
}

/// What is asked.
#[derive(Clone, Debug)]
pub struct Request {
    /// How.
    pub method: Method,
    /// Where.
    pub url: Url,
    /// With these headers; `Authorization` comes from `credential` alone.
    pub headers: HeaderMap,
    /// And this body.
    pub body: Bytes,
    /// Sent where it was granted for.
    pub credential: Option<Credential>,
}

impl Request {
    /// A GET without a body or a credential.
    #[must_use]
    pub fn get(url: Url) -> Self {
        Self {
            method: Method::GET,
            url,
            headers: HeaderMap::new(),
            body: Bytes::new(),
            credential: None,
        }
    }
}

/// An answer whose body is still to come.
#[derive(Debug)]
pub struct Response {
    inner: reqwest::Response,
    host: String,
    limits: Limits,
    /// Whether the credential of the request went with it.
    pub credential_sent: bool,
}

impl Response {
    /// Who answered.
    #[must_use]
    pub fn url(&self) -> &Url {
        self.inner.url()
    }

    /// The host that answered, for messages.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// How.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.inner.status()
    }

    /// The headers.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        self.inner.headers()
    }

    /// Refuses everything but success.
    ///
    /// # Errors
    /// [`Error::Status`].
    pub fn success(self) -> Result<Self, Error> {
        if self.status().is_success() {
            Ok(self)
        } else {
            Err(self.failure())
        }
    }

    /// This answer as a failure.
    #[must_use]
    pub fn failure(&self) -> Error {
        Error::Status {
            host: self.host.clone(),
            status: self.status().as_u16(),
        }
    }

    /// The next bytes, counted; none at the end.
    ///
    /// # Errors
    /// When they do not come, or are more than the attempt may receive.
    pub async fn chunk(&mut self, attempt: &Attempt) -> Result<Option<Bytes>, Error> {
        let (host, limits) = (self.host.as_str(), self.limits);
        let chunk = attempt
            .reading(async {
                self.inner
                    .chunk()
                    .await
                    .map_err(|error| Error::of_request(&error, host, &limits, true))
            })
            .await?;
        if let Some(bytes) = &chunk {
            attempt.count(bytes.len())?;
        }
        Ok(chunk)
    }

    /// The whole body when it has at most `limit` bytes; it is refused before more than that is held.
    ///
    /// # Errors
    /// [`Error::TooLarge`], or what [`Self::chunk`] fails with.
    pub async fn capped(mut self, attempt: &Attempt, limit: u64) -> Result<Vec<u8>, Error> {
        let too_large = Error::TooLarge {
            host: self.host.clone(),
            limit,
        };
        if self.inner.content_length().is_some_and(|length| length > limit) {
            return Err(too_large);
        }
        let mut body = Vec::new();
        while let Some(bytes) = self.chunk(attempt).await? {
            if body.len() as u64 + bytes.len() as u64 > limit {
                return Err(too_large);
            }
            body.extend_from_slice(&bytes);
        }
        Ok(body)
    }
}

/// A client for one set of roots and one judgement about addresses. Cheap to clone; connections are shared.
#[derive(Clone, Debug)]
pub struct Client {
    inner: reqwest::Client,
    network: Network,
    limits: Limits,
    plain_http: bool,
}

impl Client {
    /// Makes one.
    ///
    /// # Errors
    /// [`Error::Client`] or [`Error::InvalidCa`].
    pub fn new(trust: &Trust, network: Network, limits: &Limits) -> Result<Self, Error> {
        let inner = reqwest::Client::builder()
            .tls_certs_only(trust.certificates()?)
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .referer(false)
            .connect_timeout(limits.connect)
            .read_timeout(limits.idle)
            .dns_resolver(Arc::new(Judged(network.clone())))
            .user_agent(concat!("ptah/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|_| Error::Client)?;
        Ok(Self {
            inner,
            network,
            limits: *limits,
            plain_http: false,
        })
    }

    /// Plain http is spoken as well: where the owner of the source says so.
    #[must_use]
    pub fn allow_plain_http(mut self) -> Self {
        self.plain_http = true;
        self
    }

    /// One request; a redirect is an answer like another.
    ///
    /// # Errors
    /// When it is not answered, or may not be sent.
    pub async fn send(&self, attempt: &Attempt, request: Request) -> Result<Response, Error> {
        let authority = Authority::of(&request.url)?;
        let host = authority.to_string();
        match request.url.scheme() {
            "https" => {}
            "http" if self.plain_http => {}
            "http" => return Err(Error::PlainHttp { host }),
            _ => return Err(Error::InvalidUrl("its URL is neither https nor http")),
        }
        if !request.url.username().is_empty() || request.url.password().is_some() {
            return Err(Error::InvalidUrl("its URL holds a user name or a password"));
        }
        // An address in a URL is not resolved, so the resolver does not see it.
        if let Ok(address) = authority.bare_host().parse()
            && !self.network.allows(address)
        {
            return Err(Error::AddressNotAllowed { host, address });
        }
        let mut headers = request.headers;
        let credential = request
            .credential
            .filter(|credential| credential.is_for(&request.url));
        let credential_sent = credential.is_some();
        if let Some(credential) = credential {
            headers.insert(AUTHORIZATION, credential.value);
        }
        let sent = self
            .inner
            .request(request.method, request.url)
            .headers(headers)
            .body(request.body)
            .send();
        let inner = attempt
            .reading(async {
                sent.await
                    .map_err(|error| Error::of_request(&error, &host, &self.limits, false))
            })
            .await?;
        Ok(Response {
            inner,
            host,
            limits: self.limits,
            credential_sent,
        })
    }

    /// A request without a body, and what it is redirected to. `allow` judges each target before it is asked.
    ///
    /// # Errors
    /// When a redirect may not be followed, and what [`Self::send`] fails with.
    pub async fn follow<E: From<Error>>(
        &self,
        attempt: &Attempt,
        mut request: Request,
        mut allow: impl FnMut(&Url) -> Result<(), E>,
    ) -> Result<Response, E> {
        let mut followed = 0;
        loop {
            let response = self.send(attempt, request.clone()).await?;
            if !is_redirect(response.status()) {
                return Ok(response);
            }
            if followed == MAX_REDIRECTS {
                return Err(Error::TooManyRedirects { host: response.host }.into());
            }
            followed += 1;
            let next = target(&response, &request.url)?;
            // Not the authority alone: the same host on another port or scheme is another place.
            if next.origin() != request.url.origin() {
                request.credential = None;
            }
            request.url = next;
            allow(&request.url)?;
        }
    }
}

/// Whether an answer sends the client elsewhere.
fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

/// Where a redirect leads. From https only to https; from plain http to either.
fn target(response: &Response, from: &Url) -> Result<Url, Error> {
    let host = response.host.clone();
    let malformed = || Error::RedirectMalformed { host: host.clone() };
    let location = response
        .headers()
        .get(LOCATION)
        .and_then(|value| value.to_str().ok())
        .ok_or_else(malformed)?;
    let mut url = from.join(location).map_err(|_| malformed())?;
    url.set_fragment(None);
    match url.scheme() {
        "https" => {}
        "http" if from.scheme() == "http" => {}
        scheme => {
            // What the other side wrote is named only as far as it is a scheme.
            let scheme = scheme.chars().take(16).collect();
            return Err(Error::RedirectProtocol { host, scheme });
        }
    }
    if !url.username().is_empty() || url.password().is_some() || url.host_str().is_none() {
        return Err(malformed());
    }
    Ok(url)
}

/// Resolves names and hands on only addresses that may be connected to.
struct Judged(Network);

impl Resolve for Judged {
    fn resolve(&self, name: Name) -> Resolving {
        let network = self.0.clone();
        Box::pin(async move {
            let addresses = network.addresses(name.as_str(), 0).await?;
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(error: &Error) -> String {
        format!("{:?} {}: {error}", error.class(), error.code())
    }

    /// Whoever asks has judged its URL by the field that it came from; this is what holds if somebody forgets.
    #[tokio::test]
    async fn what_cannot_be_asked_is_refused_before_anything_is_sent() {
        let limits = Limits::default();
        let client = Client::new(&Trust::system(), Network::any(), &limits).unwrap();
        let attempt = Attempt::new(limits, Default::default());
        for (url, expected) in [
            (
                "http://git.example/app.git",
                "Refused plain_http: plain http is not allowed for git.example",
            ),
            (
                "ftp://git.example/app.git",
                "Input invalid_url: the request is unusable: its URL is neither https nor http",
            ),
            (
                "data:hunter2",
                "Input invalid_url: the request is unusable: its URL has no host",
            ),
            (
                "https://ada@git.example/app.git",
                "Input invalid_url: the request is unusable: its URL holds a user name or a password",
            ),
            (
                "https://:hunter2@git.example/app.git",
                "Input invalid_url: the request is unusable: its URL holds a user name or a password",
            ),
        ] {
            let asked = client.send(&attempt, Request::get(url.parse().unwrap())).await;
            assert_eq!(told(&asked.unwrap_err()), expected, "{url}");
        }
        assert_eq!(attempt.received(), 0);
        let broken = Credential::new("git.example".parse().unwrap(), "Bearer hunter2\nX-Evil: 1");
        assert_eq!(
            told(&broken.unwrap_err()),
            "Input invalid_url: the request is unusable: its credential holds a character that a header cannot"
        );
    }
}
