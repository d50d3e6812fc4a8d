//! A token realm that a real registry believes.
//!
//! Tokens are JSON Web Tokens as distribution reads them: signed with RS256 by the certificate that stands in their
//! header and that the registry has as its root.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::extract::{Form, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::routing::get;
use axum::{Json, Router};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use rcgen::{CertificateParams, KeyPair, PKCS_RSA_SHA256, SigningKey as _};
use serde_json::{Value, json};

use super::lying::{Lying, listener};

/// Whom tokens are for.
pub const SERVICE: &str = "registry.test";
/// Who makes them.
pub const ISSUER: &str = "realm.test";
/// The one user.
pub const USER: &str = "robot";
/// The user's password.
pub const PASSWORD: &str = "pass:word";
/// The user's identity token.
pub const IDENTITY: &str = "identity-token";

type Parameters = std::collections::BTreeMap<String, String>;

/// A running realm.
pub struct Realm {
    authority: String,
    shared: Arc<Shared>,
    _server: Lying,
}

struct Shared {
    key: KeyPair,
    certificate: rcgen::Certificate,
    /// Whether somebody without a credential gets a token to read.
    anonymous: bool,
    asked: Mutex<Vec<String>>,
}

impl Realm {
    /// Starts one.
    ///
    /// # Panics
    /// When no key or port can be had.
    pub async fn start(anonymous: bool) -> Self {
        let key = KeyPair::generate_for(&PKCS_RSA_SHA256).expect("an RSA key");
        let params = CertificateParams::new(vec!["realm.test".to_owned()]).expect("the name is valid");
        let certificate = params.self_signed(&key).expect("the key signs");
        let shared = Arc::new(Shared {
            key,
            certificate,
            anonymous,
            asked: Mutex::default(),
        });
        let (listener, authority) = listener();
        let app = Router::new()
            .route("/token", get(by_password).post(by_identity))
            .with_state(Arc::clone(&shared));
        Self {
            authority,
            shared,
            _server: Lying::serve(listener, app).await,
        }
    }

    /// Where it is.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/token", self.authority)
    }

    /// The root that the registry believes.
    #[must_use]
    pub fn certificate(&self) -> String {
        self.shared.certificate.pem()
    }

    /// Every request so far: how, by whom, for which scope.
    #[must_use]
    pub fn asked(&self) -> Vec<String> {
        self.shared
            .asked
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

async fn by_password(
    State(shared): State<Arc<Shared>>,
    Query(asked): Query<Parameters>,
    headers: HeaderMap,
) -> Result<Json<Value>, StatusCode> {
    let given = headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok());
    let expected = format!("Basic {}", STANDARD.encode(format!("{USER}:{PASSWORD}")));
    let who = match given {
        None if shared.anonymous => "nobody",
        Some(given) if given == expected => USER,
        _ => return Err(StatusCode::UNAUTHORIZED),
    };
    Ok(shared.token("GET", who, &asked))
}

async fn by_identity(
    State(shared): State<Arc<Shared>>,
    Form(asked): Form<Parameters>,
) -> Result<Json<Value>, StatusCode> {
    let given = |name: &str| asked.get(name).map_or("", String::as_str);
    if given("grant_type") != "refresh_token" || given("refresh_token") != IDENTITY {
        return Err(StatusCode::UNAUTHORIZED);
    }
    Ok(shared.token("POST", USER, &asked))
}

impl Shared {
    fn token(&self, how: &str, who: &str, asked: &Parameters) -> Json<Value> {
        let given = |name: &str| asked.get(name).cloned().unwrap_or_default();
        let (service, scope) = (given("service"), given("scope"));
        let line = format!("{how} {who} {service} {scope}");
        self.asked
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(line);
        let mut parts = scope.splitn(3, ':');
        let mut part = || parts.next().unwrap_or_default().to_owned();
        let (kind, name, actions) = (part(), part(), part());
        let actions: Vec<&str> = actions.split(',').collect();
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or(Duration::ZERO)
            .as_secs();
        let claims = json!({
            "iss": ISSUER, "sub": who, "aud": service, "iat": now, "nbf": now - 10, "exp": now + 300, "jti": "1",
            "access": [{"type": kind, "name": name, "actions": actions}],
        });
        let chain = STANDARD.encode(self.certificate.der());
        let header = json!({"typ": "JWT", "alg": "RS256", "x5c": [chain]});
        let text = format!("{}.{}", encode(&header), encode(&claims));
        let signature = self.key.sign(text.as_bytes()).expect("the key signs");
        let token = format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature));
        let name = if how == "POST" { "access_token" } else { "token" };
        Json(json!({name: token, "expires_in": 300}))
    }
}

fn encode(value: &Value) -> String {
    URL_SAFE_NO_PAD.encode(value.to_string())
}
