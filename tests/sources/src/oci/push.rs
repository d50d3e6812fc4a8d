//! Pushes what was made by hand to a real registry, and takes it away: what no pushing program would do can be done.

use reqwest::{Client, Method, RequestBuilder, Response};

use super::store::{INDEX, Store};

/// One repository of a real registry.
pub struct Pusher {
    client: Client,
    base: String,
    user: Option<(String, String)>,
}

impl Pusher {
    /// Over plain HTTP.
    pub fn new(authority: &str, repository: &str) -> Self {
        Self::with(format!("http://{authority}/v2/{repository}"), None)
    }

    /// Over TLS, whoever answers, as this user.
    pub fn over_tls(authority: &str, repository: &str, user: (&str, &str)) -> Self {
        let user = (user.0.to_owned(), user.1.to_owned());
        Self::with(format!("https://{authority}/v2/{repository}"), Some(user))
    }

    fn with(base: String, user: Option<(String, String)>) -> Self {
        let client = Client::builder().no_proxy().tls_danger_accept_invalid_certs(true);
        Self {
            client: client.build().unwrap(),
            base,
            user,
        }
    }

    fn ask(&self, method: Method, url: impl reqwest::IntoUrl) -> RequestBuilder {
        let request = self.client.request(method, url);
        match &self.user {
            Some((name, password)) => request.basic_auth(name, Some(password)),
            None => request,
        }
    }

    /// Pushes all of it: blobs, then manifests, then the indexes that list them.
    pub async fn push(&self, store: &Store) {
        for (digest, bytes) in &store.blobs {
            let begun = self.ask(Method::POST, format!("{}/blobs/uploads/", self.base));
            let begun = done(begun.send().await.unwrap()).await;
            let location = begun.headers()["location"].to_str().unwrap();
            let mut url = begun.url().join(location).unwrap();
            url.query_pairs_mut().append_pair("digest", digest);
            let put = self
                .ask(Method::PUT, url)
                .header("content-type", "application/octet-stream");
            done(put.body(bytes.clone()).send().await.unwrap()).await;
        }
        let mut manifests: Vec<_> = store.manifests.iter().collect();
        manifests.sort_by_key(|(name, (_, media_type))| (media_type == INDEX, !name.starts_with("sha256:")));
        for (name, (bytes, media_type)) in manifests {
            let put = self.ask(Method::PUT, format!("{}/manifests/{name}", self.base));
            let put = put.header("content-type", media_type).body(bytes.clone());
            done(put.send().await.unwrap()).await;
        }
    }

    /// Takes a manifest away, by its digest or by a tag.
    pub async fn delete(&self, name: &str) {
        let deleted = self.ask(Method::DELETE, format!("{}/manifests/{name}", self.base));
        done(deleted.send().await.unwrap()).await;
    }
}

async fn done(response: Response) -> Response {
    let status = response.status();
    let url = response.url().clone();
    if !status.is_success() {
        panic!("{url}: {status}: {}", response.text().await.unwrap_or_default());
    }
    response
}
