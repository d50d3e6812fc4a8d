//! The audience of result tokens must be nobody else's.
//!
//! Every operation Pod holds a token for results. Were its audience one that the API server accepts as its own, a Pod
//! that runs a stranger's SQL would hold a credential of the cluster. So the manager asks before it does anything.

use anyhow::Context as _;
use k8s_openapi::api::authentication::v1::{
    TokenRequest, TokenRequestSpec, TokenReview, TokenReviewSpec, TokenReviewStatus,
};
use k8s_openapi::api::core::v1::ServiceAccount;
use kube::api::PostParams;
use kube::{Api, Client};
use ptah_contract::protocol::RESULT_AUDIENCE;

use super::Arguments;

/// The shortest life that the API server gives a token, in seconds.
const SHORTEST: i64 = 600;

/// Makes a token for results and has the API server judge it as its own.
///
/// # Errors
/// When the API server accepts it, or does not say.
pub(super) async fn refused_by_the_api_server(client: &Client, arguments: &Arguments) -> anyhow::Result<()> {
    let prefix = format!("system:serviceaccount:{}:", arguments.namespace);
    let account = arguments
        .service_account_username
        .strip_prefix(&prefix)
        .with_context(|| format!("--service-account-username must begin with {prefix}"))?;
    let request = TokenRequest {
        spec: Some(TokenRequestSpec {
            audiences: Some(vec![RESULT_AUDIENCE.to_owned()]),
            expiration_seconds: Some(SHORTEST),
            ..TokenRequestSpec::default()
        }),
        ..TokenRequest::default()
    };
    let token = Api::<ServiceAccount>::namespaced(client.clone(), &arguments.namespace)
        .create_token_request(account, &PostParams::default(), &request)
        .await
        .with_context(|| {
            format!("no token for {RESULT_AUDIENCE} could be made, so nobody knows who accepts it")
        })?
        .status
        .and_then(|status| status.token)
        .context("the API server made no token")?;
    let review = TokenReview {
        spec: TokenReviewSpec {
            token,
            // None: the API server's own.
            audiences: None,
        },
        ..TokenReview::default()
    };
    let judged = Api::<TokenReview>::all(client.clone())
        .create(&PostParams::default(), &review)
        .await
        .context("a token for results could not be reviewed")?;
    judge(&judged.status.unwrap_or_default())
}

fn judge(status: &TokenReviewStatus) -> anyhow::Result<()> {
    anyhow::ensure!(
        status.authenticated != Some(true),
        "the API server accepts tokens of the audience {RESULT_AUDIENCE} as its own (it is among {:?}): every operation \
         Pod would hold a credential of the cluster; take it out of --api-audiences",
        status.audiences.as_deref().unwrap_or_default()
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_api_server_that_takes_result_tokens_for_its_own_is_refused() {
        let refused = TokenReviewStatus {
            authenticated: Some(false),
            ..TokenReviewStatus::default()
        };
        judge(&refused).unwrap();
        judge(&TokenReviewStatus::default()).unwrap();
        let accepted = TokenReviewStatus {
            authenticated: Some(true),
            audiences: Some(vec![RESULT_AUDIENCE.to_owned()]),
            ..TokenReviewStatus::default()
        };
        let said = judge(&accepted).unwrap_err().to_string();
        assert!(
            said.contains("operator.ptah.run/results") && said.contains("--api-audiences"),
            "{said}"
        );
    }
}
