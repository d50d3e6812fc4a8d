//! Waiting for an API server that is away, instead of ending: a process that ends is started again ever more slowly.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

/// Time between two attempts.
const AGAIN_AFTER: Duration = Duration::from_secs(2);

/// Asks until there is an answer; `None` when the process is to stop.
///
/// # Errors
/// The answer, when it is a refusal.
pub(super) async fn answered<T>(
    what: &str,
    stop: &CancellationToken,
    ask: impl AsyncFnMut() -> anyhow::Result<T>,
) -> anyhow::Result<Option<T>> {
    answered_every(AGAIN_AFTER, what, stop, ask).await
}

async fn answered_every<T>(
    pause: Duration,
    what: &str,
    stop: &CancellationToken,
    mut ask: impl AsyncFnMut() -> anyhow::Result<T>,
) -> anyhow::Result<Option<T>> {
    loop {
        let error = match ask().await {
            Ok(answer) => return Ok(Some(answer)),
            Err(error) if is_away(&error) => error,
            Err(error) => return Err(error.context(what.to_owned())),
        };
        tracing::warn!(error = %format!("{error:#}"), "{what}: the API server is away, asking again");
        tokio::select! {
            () = stop.cancelled() => return Ok(None),
            () = tokio::time::sleep(pause) => {}
        }
    }
}

/// Whether there was no answer, or only that there is none to be had now.
fn is_away(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<kube::Error>())
        .any(|error| match error {
            kube::Error::Api(status) => status.code >= 500 || status.code == 429,
            kube::Error::Service(_) | kube::Error::HyperError(_) | kube::Error::ReadEvents(_) => true,
            _ => false,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn api(code: u16) -> kube::Error {
        let status = kube::core::Status::failure("no", "No").with_code(code);
        kube::Error::Api(status.boxed())
    }

    #[tokio::test]
    async fn an_api_server_that_is_away_is_waited_for_and_a_refusal_is_not() {
        let stop = CancellationToken::new();
        let mut asked = 0;
        let answer = answered_every(Duration::ZERO, "the certificate", &stop, async || {
            asked += 1;
            match asked {
                1 => Err(api(503).into()),
                2 => Err(
                    anyhow::Error::from(kube::Error::Service("connection refused".into())).context("reading"),
                ),
                _ => Ok(7),
            }
        })
        .await;
        assert_eq!((answer.unwrap(), asked), (Some(7), 3));
        let refused = answered_every(Duration::ZERO, "the certificate", &stop, async || {
            Err::<(), _>(api(403).into())
        })
        .await;
        assert!(format!("{:#}", refused.unwrap_err()).starts_with("the certificate: "));
        stop.cancel();
        let stopped = answered_every(Duration::ZERO, "the certificate", &stop, async || {
            Err::<(), _>(api(500).into())
        })
        .await;
        assert_eq!(stopped.unwrap(), None);
    }
}
