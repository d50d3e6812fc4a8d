//! An API server in memory: objects by path, and token reviews that answer what a test says.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use axum::body::{Body, to_bytes};
use axum::extract::DefaultBodyLimit;
use axum::http::{Method, Request, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use axum::{Json, Router};
use kube::Client;
use serde_json::{Value, json};

/// What is stored, and what was asked.
#[derive(Default)]
pub struct World {
    /// Objects by path.
    pub objects: BTreeMap<String, Value>,
    /// `status` of every token review.
    pub review: Value,
    /// Reviews that were asked for.
    pub reviews: Vec<Value>,
    /// Every request, as `METHOD path`.
    pub requests: Vec<String>,
    /// How many requests are answered before the API server is away.
    pub away_after: Option<usize>,
    /// Whether it takes requests and never answers.
    pub silent: bool,
    /// Changes to make right before the numbered request is answered.
    pub changes: Vec<(usize, String, Value)>,
}

/// A handle on the API server.
#[derive(Clone, Default)]
pub struct Api(Arc<Mutex<World>>);

impl Api {
    /// What is stored, to look at or to change.
    pub fn world(&self) -> MutexGuard<'_, World> {
        self.0.lock().unwrap()
    }

    /// A client of it.
    pub fn client(&self) -> Client {
        let world = self.clone();
        let handle = move |method: Method, uri: Uri, body: axum::body::Bytes| {
            let world = world.clone();
            async move {
                if world.world().silent {
                    std::future::pending::<()>().await;
                }
                world.answer(&method, uri.path(), &body)
            }
        };
        Client::new(
            Router::new().fallback(handle).layer(DefaultBodyLimit::disable()),
            "application",
        )
    }

    /// Puts an object at its path.
    pub fn put(&self, path: &str, object: Value) {
        self.world().objects.insert(path.to_owned(), object);
    }

    fn answer(&self, method: &Method, path: &str, body: &[u8]) -> Response {
        let mut world = self.world();
        world.requests.push(format!("{method} {path}"));
        let number = world.requests.len();
        if world.away_after.is_some_and(|count| number > count) {
            return failure(500, "InternalError");
        }
        let due: Vec<_> = world
            .changes
            .iter()
            .filter(|change| change.0 == number)
            .cloned()
            .collect();
        for (_, path, object) in due {
            world.objects.insert(path, object);
        }
        if path == "/apis/authentication.k8s.io/v1/tokenreviews" {
            let review: Value = serde_json::from_slice(body).unwrap();
            world.reviews.push(review.clone());
            let mut answer = review;
            answer["metadata"] = json!({});
            answer["status"] = world.review.clone();
            return Json(answer).into_response();
        }
        if method == Method::POST {
            let mut object: Value = serde_json::from_slice(body).unwrap();
            let path = format!("{path}/{}", object["metadata"]["name"].as_str().unwrap());
            if world.objects.contains_key(&path) {
                return failure(409, "AlreadyExists");
            }
            object["metadata"]["uid"] = format!("uid-{number}").into();
            world.objects.insert(path, object.clone());
            return (StatusCode::CREATED, Json(object)).into_response();
        }
        match world.objects.get(path) {
            Some(object) => Json(object.clone()).into_response(),
            None => failure(404, "NotFound"),
        }
    }
}

fn failure(code: u16, reason: &str) -> Response {
    let body = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "reason": reason, "message": reason, "code": code});
    (StatusCode::from_u16(code).unwrap(), Json(body)).into_response()
}

/// Sends a request to a router and reads the whole answer.
pub async fn call(router: Router, request: Request<Vec<u8>>) -> (StatusCode, axum::http::HeaderMap, Vec<u8>) {
    // A kube client is also a plain HTTP client over whatever service it is given.
    let request = request.map(kube::client::Body::from);
    let response = Client::new(router, "default").send(request).await.unwrap();
    let (parts, body) = response.into_parts();
    (
        parts.status,
        parts.headers,
        to_bytes(Body::new(body), usize::MAX).await.unwrap().to_vec(),
    )
}
