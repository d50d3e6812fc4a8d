//! A GitHub App: a token for each fetch.
//!
//! The grant for `host` covers `api.<host>`, which mints the token, and nothing else.

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use reqwest::Method;
use reqwest::header::{ACCEPT, HeaderMap, HeaderValue};
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject as _;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use url::Url;

use super::Error;
use crate::net::{self, Attempt, Authority, Client, Request};

/// Largest answer of the API that is read.
const MAX_ANSWER: u64 = 1 << 20;

/// An installation of an App, and the App's key.
#[derive(Clone)]
pub(super) struct App {
    id: String,
    installation: String,
    key: Arc<RsaKeyPair>,
    api: Authority,
    repository: Authority,
}

impl App {
    pub(super) fn new(id: &str, installation: &str, key: &str, repository: Authority) -> Result<Self, Error> {
        for (name, value) in [("githubAppID", id), ("githubAppInstallationID", installation)] {
            if value.len() > 20 || !value.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(Error::SecretKey {
                    key: name,
                    problem: "it is not a number",
                });
            }
        }
        let unusable = || Error::SecretKey {
            key: "githubAppPrivateKey",
            problem: "it is no RSA private key in PEM form",
        };
        let key = match PrivateKeyDer::from_pem_slice(key.as_bytes()).map_err(|_| unusable())? {
            PrivateKeyDer::Pkcs1(der) => RsaKeyPair::from_der(der.secret_pkcs1_der()),
            PrivateKeyDer::Pkcs8(der) => RsaKeyPair::from_pkcs8(der.secret_pkcs8_der()),
            _ => return Err(unusable()),
        }
        .map_err(|_| unusable())?;
        let api = Authority::new(&format!("api.{}", repository.host()), repository.port());
        let api = api.map_err(|_| {
            let problem = "a GitHub App needs a repository at a name, since its API is at api.<host>";
            Error::SecretKeys(problem.to_owned())
        })?;
        Ok(Self {
            id: id.to_owned(),
            installation: installation.to_owned(),
            key: Arc::new(key),
            api,
            repository,
        })
    }

    /// Asks for a token of the installation, good for the repository's authority.
    pub(super) async fn token(&self, client: &Client, attempt: &Attempt) -> Result<net::Credential, Error> {
        let api = self.api.clone();
        let url = format!(
            "https://{api}/app/installations/{}/access_tokens",
            self.installation
        );
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("application/vnd.github+json"));
        let request = Request {
            method: Method::POST,
            url: Url::parse(&url).map_err(|_| Error::AppToken("its API has no usable address"))?,
            headers,
            body: Default::default(),
            credential: Some(net::Credential::new(api, &format!("Bearer {}", self.jwt()?))?),
        };
        let response = client.send(attempt, request).await?;
        match response.status().as_u16() {
            200..=299 => {}
            401 => return Err(Error::AppToken("the App or its key is rejected")),
            403 => return Err(Error::AppToken("the App may not use this installation")),
            404 => return Err(Error::AppToken("there is no such installation")),
            _ => return Err(response.failure().into()),
        }
        let body = response.capped(attempt, MAX_ANSWER).await?;
        let token = serde_json::from_slice::<serde_json::Value>(&body)
            .ok()
            .and_then(|answer| answer.get("token")?.as_str().map(str::to_owned))
            .ok_or(Error::AppToken("the API answered without a token"))?;
        let value = format!("Basic {}", STANDARD.encode(format!("x-access-token:{token}")));
        Ok(net::Credential::new(self.repository.clone(), &value)?)
    }

    /// Says who the App is, for ten minutes, from a minute ago: clocks differ.
    fn jwt(&self) -> Result<String, Error> {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| since.as_secs());
        let claims = serde_json::json!({ "iat": now.saturating_sub(60), "exp": now + 540, "iss": self.id });
        let signed = format!(
            "{}.{}",
            URL_SAFE_NO_PAD.encode(r#"{"alg":"RS256","typ":"JWT"}"#),
            URL_SAFE_NO_PAD.encode(claims.to_string())
        );
        let mut signature = vec![0; self.key.public_modulus_len()];
        self.key
            .sign(
                &RSA_PKCS1_SHA256,
                &SystemRandom::new(),
                signed.as_bytes(),
                &mut signature,
            )
            .map_err(|_| Error::AppToken("its key does not sign"))?;
        Ok(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }
}
