//! Asking one registry about one repository, with whatever proof it wants.
//!
//! Promises: nothing is sent with a request before the registry asked for it; a credential that was answered 401 is
//! not sent again; a token that is refused is asked for once more, for each request; the scope asked for is to pull
//! this repository and nothing else, whatever the registry says; a redirect's answer is never taken for the registry's.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::Method;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use serde::Deserialize;
use tokio::sync::Mutex;
use tokio::time::Instant;
use url::Url;
use url::form_urlencoded::Serializer;

use super::challenge::{self, Challenge};
use super::credentials::Granted;
use super::docker_config::Login;
use super::{Error, Reference, Request};
use crate::net::{Attempt, Authority, Client, Credential, Response, Secret, Trust};

/// Largest answer of a token realm.
const MAX_TOKEN: u64 = 1 << 20;
/// How long a token is good when the realm does not say (distribution's token specification).
const TOKEN_LIFE: Duration = Duration::from_secs(60);
/// More rounds than a request can need: challenge, refused token, answer.
const MAX_ROUNDS: usize = 4;

/// One repository, for one attempt.
pub(super) struct Session<'a> {
    client: Client,
    pub(super) attempt: &'a Attempt,
    reference: &'a Reference,
    /// Ends with the repository and a slash.
    base: Url,
    granted: Option<Granted>,
    plain_http: bool,
    proof: Mutex<Proof>,
}

#[derive(Default)]
struct Proof {
    current: Option<Authorization>,
    /// What the registry asked for first: some answer 403 without a challenge when a token has expired.
    asked: Option<Challenge>,
}

/// What goes with a request.
#[derive(Clone)]
struct Authorization {
    credential: Credential,
    /// When it may be refused for its age; `None` for what does not come from a realm.
    stale: Option<Instant>,
}

impl<'a> Session<'a> {
    /// Checks the grants, before anything is sent.
    pub(super) fn open(request: &'a Request, attempt: &'a Attempt) -> Result<Self, Error> {
        let reference = &request.reference;
        let plain_http = request.plain_http;
        if plain_http && request.ca.is_some() {
            return Err(Error::PlainHttpWithCa);
        }
        let granted = match &request.credentials {
            Some(credentials) => Some(credentials.granted(reference, plain_http, request.ca.as_deref())?),
            None => None,
        };
        let mut trust = Trust::system();
        if let Some(ca) = &request.ca {
            trust = trust.with_pem(ca)?;
        }
        let mut client = Client::new(&trust, request.network.clone(), attempt.limits())?;
        if plain_http {
            client = client.allow_plain_http();
        }
        let scheme = if plain_http { "http" } else { "https" };
        let base = format!(
            "{scheme}://{}/v2/{}/",
            reference.registry(),
            reference.repository()
        );
        let base = Url::parse(&base).map_err(|_| crate::net::Error::InvalidAuthority)?;
        Ok(Self {
            client,
            attempt,
            reference,
            base,
            granted,
            plain_http,
            proof: Mutex::default(),
        })
    }

    /// The registry, for messages.
    pub(super) fn registry(&self) -> String {
        self.reference.registry().to_string()
    }

    /// A URL of this repository.
    pub(super) fn url(&self, path: &str) -> Result<Url, Error> {
        let url = self.base.join(path);
        Ok(url.map_err(|_| crate::net::Error::InvalidUrl("its URL is no path of the repository"))?)
    }

    /// Whether a URL is one of this repository, so that a proof may go there.
    pub(super) fn is_own(&self, url: &Url) -> bool {
        // An origin leaves the user out, and a URL that names one is never asked.
        let is_anonymous = url.username().is_empty() && url.password().is_none();
        is_anonymous && url.origin() == self.base.origin() && url.path().starts_with(self.base.path())
    }

    /// Asks, proves who asks where that is wanted, and follows redirects. Answers of 401 and 403 are failures.
    pub(super) async fn ask(
        &self,
        method: Method,
        url: &Url,
        accept: &'static str,
    ) -> Result<Response, Error> {
        let mut renewed = false;
        for _ in 0..MAX_ROUNDS {
            let used = self.proof.lock().await.current.clone();
            let response = self.send(&method, url, accept, used.as_ref()).await?;
            let status = response.status().as_u16();
            let elsewhere = response.url().origin() != url.origin();
            if elsewhere || (used.is_some() && !response.credential_sent) {
                // Where the registry sent us: no proof of ours went there, so none is renewed for it.
                return match status {
                    401 | 403 => Err(response.failure().into()),
                    _ => Ok(response),
                };
            }
            let stale = used.as_ref().and_then(|used| used.stale);
            let renewable = stale.is_some() && !renewed;
            match status {
                401 if used.is_none() => {
                    self.authorize(challenge::of(response.headers()), None).await?;
                }
                400 if renewable && stale.is_some_and(|stale| stale <= Instant::now()) => {
                    renewed = true;
                    self.authorize(None, used).await?;
                }
                401 | 403 if renewable => {
                    renewed = true;
                    self.authorize(challenge::of(response.headers()), used).await?;
                }
                401 => return Err(self.rejected(self.registry())),
                403 => {
                    return Err(Error::Denied {
                        host: response.host().to_owned(),
                        repository: self.reference.repository().to_owned(),
                    });
                }
                _ => return Ok(response),
            }
        }
        Err(self.rejected(self.registry()))
    }

    async fn send(
        &self,
        method: &Method,
        url: &Url,
        accept: &'static str,
        used: Option<&Authorization>,
    ) -> Result<Response, Error> {
        let mut request = crate::net::Request::get(url.clone());
        request.method = method.clone();
        request.headers.insert(ACCEPT, HeaderValue::from_static(accept));
        request.credential = used.map(|used| used.credential.clone());
        self.client.follow(self.attempt, request, |_| Ok(())).await
    }

    /// What a proof that is not taken means: without a credential, that one is wanted.
    fn rejected(&self, host: String) -> Error {
        match self.granted {
            Some(_) => Error::CredentialRejected { host },
            None => Error::CredentialMissing {
                registry: self.registry(),
            },
        }
    }

    /// Finds a proof in place of `used`, unless somebody else just did.
    async fn authorize(&self, asked: Option<Challenge>, used: Option<Authorization>) -> Result<(), Error> {
        let mut proof = self.proof.lock().await;
        let same = |a: &Authorization, b: &Authorization| a.credential.value == b.credential.value;
        let replaced = match (&proof.current, &used) {
            (Some(current), Some(used)) => !same(current, used),
            (Some(_), None) => true,
            (None, _) => false,
        };
        if replaced {
            return Ok(());
        }
        proof.current = None;
        let challenge = asked
            .or_else(|| proof.asked.clone())
            .ok_or_else(|| Error::Challenge {
                registry: self.registry(),
            })?;
        proof.current = Some(self.answer(&challenge).await?);
        proof.asked = Some(challenge);
        Ok(())
    }

    async fn answer(&self, challenge: &Challenge) -> Result<Authorization, Error> {
        let fixed = |value: String| {
            Ok(Authorization {
                credential: self.credential(Authority::of(&self.base)?, &value)?,
                stale: None,
            })
        };
        let unsuited = |asked, given| {
            Err(Error::CredentialUnsuited {
                registry: self.registry(),
                asked,
                given,
            })
        };
        let login = self.granted.as_ref().map(|granted| &granted.login);
        match (challenge, login) {
            (Challenge::Basic, None) => Err(Error::CredentialMissing {
                registry: self.registry(),
            }),
            (Challenge::Basic, Some(Login::Password { username, password })) => {
                fixed(basic(username, password))
            }
            (Challenge::Basic, Some(_)) => unsuited("a user and a password", "a token"),
            // The registry takes this token itself: no realm sees it.
            (Challenge::Bearer { .. }, Some(Login::Registry(token))) => {
                fixed(format!("Bearer {}", token.reveal()))
            }
            (Challenge::Bearer { realm, service }, login) => {
                let realm = self.realm(realm)?;
                let (token, life) = self.token(realm, service.as_deref(), login).await?;
                Ok(Authorization {
                    stale: Some(Instant::now() + life),
                    ..fixed(format!("Bearer {}", token.reveal()))?
                })
            }
        }
    }

    fn credential(&self, authority: Authority, value: &str) -> Result<Credential, Error> {
        let mut credential = Credential::new(authority, value)?;
        // A token that nobody's credential stands behind is no secret of anybody.
        credential.plain_http =
            self.plain_http && self.granted.as_ref().is_none_or(|granted| granted.plain_http);
        Ok(credential)
    }

    /// The realm, if a credential may go there.
    fn realm(&self, text: &str) -> Result<Url, Error> {
        let refuse = |problem| {
            Err(Error::Realm {
                registry: self.registry(),
                problem,
            })
        };
        let Ok(mut url) = Url::parse(text) else {
            return refuse("is no URL");
        };
        let plain = self.plain_http && self.granted.as_ref().is_none_or(|granted| granted.plain_http);
        match url.scheme() {
            "https" => {}
            "http" if plain => {}
            "http" => return refuse("is on plain http"),
            _ => return refuse("is not on https"),
        }
        if !url.username().is_empty() || url.password().is_some() {
            return refuse("holds a user name");
        }
        url.set_fragment(None);
        Ok(url)
    }

    async fn token(
        &self,
        realm: Url,
        service: Option<&str>,
        login: Option<&Login>,
    ) -> Result<(Secret, Duration), Error> {
        let authority = Authority::of(&realm)?;
        let host = authority.to_string();
        let scope = format!("repository:{}:pull", self.reference.repository());
        let mut request = crate::net::Request::get(realm);
        request
            .headers
            .insert(ACCEPT, HeaderValue::from_static("application/json"));
        match login {
            Some(Login::Identity(token)) => {
                request.method = Method::POST;
                request.headers = form();
                let mut body = Serializer::new(String::new());
                body.append_pair("grant_type", "refresh_token")
                    .append_pair("client_id", "ptah")
                    .append_pair("service", service.unwrap_or_default())
                    .append_pair("scope", &scope)
                    .append_pair("refresh_token", token.reveal());
                request.body = body.finish().into();
            }
            other => {
                let mut query = request.url.query_pairs_mut();
                if let Some(service) = service {
                    query.append_pair("service", service);
                }
                query.append_pair("scope", &scope);
                drop(query);
                if let Some(Login::Password { username, password }) = other {
                    request.credential = Some(self.credential(authority, &basic(username, password))?);
                }
            }
        }
        // Not followed: what it sends there is a credential, for this host alone.
        let response = self.client.send(self.attempt, request).await?;
        match response.status().as_u16() {
            300..=399 => {
                return Err(Error::Realm {
                    registry: self.registry(),
                    problem: "answers with a redirect",
                });
            }
            // An OAuth 2 realm answers a wrong token with 400 (RFC 6749, section 5.2).
            400 | 401 | 403 if login.is_some() => return Err(self.rejected(host)),
            401 | 403 => return Err(self.rejected(host)),
            _ => {}
        }
        let body = response.success()?.capped(self.attempt, MAX_TOKEN).await?;
        let answer: Answer =
            serde_json::from_slice(&body).map_err(|_| Error::Token { host: host.clone() })?;
        let life = answer.expires_in.and_then(|seconds| seconds.as_u64());
        let token = answer
            .token
            .into_iter()
            .chain(answer.access_token)
            .find(|token| !token.is_empty());
        let usable = |token: &String| token.bytes().all(|byte| byte.is_ascii_graphic());
        let token = token.filter(usable).ok_or(Error::Token { host })?;
        Ok((Secret::new(token), life.map_or(TOKEN_LIFE, Duration::from_secs)))
    }
}

#[derive(Deserialize)]
struct Answer {
    token: Option<String>,
    access_token: Option<String>,
    expires_in: Option<serde_json::Value>,
}

fn basic(username: &Secret, password: &Secret) -> String {
    let pair = format!("{}:{}", username.reveal(), password.reveal());
    format!("Basic {}", STANDARD.encode(pair))
}

fn form() -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    headers.insert(
        CONTENT_TYPE,
        HeaderValue::from_static("application/x-www-form-urlencoded"),
    );
    headers
}
