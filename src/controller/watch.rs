//! How the API server is watched.

use kube::runtime::watcher;

/// Lists come whole and from the API server's own cache, not in pages: a paged list of many objects can take longer
/// than the version that its watch would begin at is kept, and is then begun again without end. A list may so be a
/// moment old; every pass reads its resource anew.
pub(super) fn config() -> watcher::Config {
    let whole = watcher::Config {
        page_size: None,
        ..watcher::Config::default()
    };
    whole.any_semantic()
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use axum::Router;
    use axum::http::Uri;
    use futures::StreamExt as _;
    use kube::runtime::watcher::{Event, watcher};
    use kube::{Api, Client, ResourceExt as _};
    use ptah_api::PtahSchema;
    use serde_json::json;

    /// An API server that holds one schema, which has another name after each list, and that says in the body of its
    /// first watch, whose answer is 200, that the watch is too old (410).
    fn forgetful(asked: Arc<Mutex<Vec<String>>>) -> Client {
        let handle = move |uri: Uri| {
            let asked = asked.clone();
            async move {
                let query = uri.query().unwrap_or_default().to_owned();
                let mut asked = asked.lock().unwrap();
                asked.push(query.clone());
                if query.contains("watch=true") {
                    return json!({"type": "ERROR", "object": {"kind": "Status", "apiVersion": "v1",
                        "status": "Failure", "reason": "Expired", "message": "too old", "code": 410}})
                    .to_string()
                        + "\n";
                }
                let lists = asked.iter().filter(|query| !query.contains("watch=true")).count();
                json!({"kind": "PtahSchemaList", "apiVersion": "operator.ptah.run/v1alpha1",
                    "metadata": {"resourceVersion": "7"}, "items": [{
                        "apiVersion": "operator.ptah.run/v1alpha1", "kind": "PtahSchema",
                        "metadata": {"name": format!("seen-{lists}"), "namespace": "ns", "uid": "u"},
                        "spec": {"target": {"engine": "PostgreSQL", "coordinationKey": "k",
                            "urlFrom": {"name": "db", "key": "url"}}, "desired": {"configMap": {"name": "sql"}}}}]})
                .to_string()
            }
        };
        Client::new(Router::new().fallback(handle), "ns")
    }

    #[tokio::test]
    async fn a_watch_that_is_told_410_within_an_answer_of_200_lists_again() {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let api = Api::<PtahSchema>::all(forgetful(asked.clone()));
        let mut events = Box::pin(watcher(api, super::config()));
        let (mut names, mut errors) = (Vec::new(), 0);
        while names.len() < 2 {
            match events.next().await.unwrap() {
                Ok(Event::InitApply(schema)) => names.push(schema.name_any()),
                Ok(_) => {}
                Err(_) => errors += 1,
            }
        }
        assert_eq!(
            (names, errors),
            (vec!["seen-1".to_owned(), "seen-2".to_owned()], 1)
        );
        let asked = asked.lock().unwrap();
        let lists: Vec<_> = asked
            .iter()
            .filter(|query| !query.contains("watch=true"))
            .collect();
        assert!(
            lists
                .iter()
                .all(|query| query.contains("resourceVersion=0") && !query.contains("limit=")),
            "lists are whole and from the cache: {lists:?}"
        );
    }
}
