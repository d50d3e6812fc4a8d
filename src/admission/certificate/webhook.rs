//! Tells the API server which authority the webhook's certificate comes from.

use k8s_openapi::ByteString;
use k8s_openapi::api::admissionregistration::v1::MutatingWebhookConfiguration;
use kube::Client;
use kube::api::{Api, Patch, PatchParams};
use serde_json::json;

use super::issue::Error;

/// The `caBundle` of every webhook of the configuration; one that has none gives an empty text.
///
/// # Errors
/// When the configuration cannot be read.
pub async fn published(client: &Client, configuration: &str) -> Result<Vec<String>, Error> {
    let found = Api::<MutatingWebhookConfiguration>::all(client.clone())
        .get(configuration)
        .await?;
    let bundle = |bundle: Option<ByteString>| {
        bundle.map_or_else(String::new, |bytes| {
            String::from_utf8_lossy(&bytes.0).into_owned()
        })
    };
    let webhooks = found.webhooks.unwrap_or_default();
    Ok(webhooks
        .into_iter()
        .map(|webhook| bundle(webhook.client_config.ca_bundle))
        .collect())
}

/// Sets `caBundle` of every webhook of the configuration, and says whether that changed anything. Nothing else of
/// the configuration is touched, and a webhook that moved in the meantime is not given another's bundle.
///
/// # Errors
/// When the configuration is absent, empty, or cannot be written.
pub async fn patch_ca_bundle(client: &Client, configuration: &str, ca_pem: &str) -> Result<bool, Error> {
    let api = Api::<MutatingWebhookConfiguration>::all(client.clone());
    let found = api.get(configuration).await?;
    let webhooks = found.webhooks.unwrap_or_default();
    if webhooks.is_empty() {
        return Err(Error::Webhook(configuration.to_owned()));
    }
    let wanted = ByteString(ca_pem.as_bytes().to_vec());
    let mut changes = Vec::new();
    for (index, webhook) in webhooks.iter().enumerate() {
        if webhook.client_config.ca_bundle.as_ref() != Some(&wanted) {
            changes.push(
                json!({"op": "test", "path": format!("/webhooks/{index}/name"), "value": webhook.name}),
            );
            changes.push(json!({
                "op": "add", "path": format!("/webhooks/{index}/clientConfig/caBundle"), "value": wanted,
            }));
        }
    }
    if changes.is_empty() {
        return Ok(false);
    }
    let patch =
        serde_json::from_value(changes.into()).map_err(|_| Error::Webhook(configuration.to_owned()))?;
    api.patch(configuration, &PatchParams::default(), &Patch::Json::<()>(patch))
        .await?;
    Ok(true)
}
