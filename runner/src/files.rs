//! What every subcommand reads, and when it stops.

use std::path::Path;

use ptah_contract::policy::SchemaPolicy;
use ptah_engine::Target;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::fail::Failed;

/// SIGTERM and SIGINT cancel what runs on the server, and then the program ends.
pub(crate) fn stop_on_signals() -> CancellationToken {
    let token = CancellationToken::new();
    for kind in [SignalKind::terminate(), SignalKind::interrupt()] {
        // Without a handler the signal ends the process at once, which is safe as well.
        if let Ok(mut stream) = signal(kind) {
            let token = token.clone();
            tokio::spawn(async move {
                stream.recv().await;
                token.cancel();
            });
        }
    }
    token
}

pub(crate) fn policy(file: Option<&Path>) -> Result<SchemaPolicy, Failed> {
    let Some(file) = file else {
        return Ok(SchemaPolicy::default());
    };
    let text = std::fs::read(file).map_err(|error| {
        Failed::input(
            "invalid_policy",
            format!("the policy cannot be read: {}", error.kind()),
        )
    })?;
    serde_json::from_slice(&text)
        .map_err(|error| Failed::input("invalid_policy", format!("the policy: {error}")))
}

/// The target, with a warning when nothing says how to protect the connection.
pub(crate) fn target(file: &Path) -> Result<Target, Failed> {
    let target = Target::from_url_file(file)?;
    if target.tls_is_unspecified() {
        eprintln!(
            "warning: the URL names no sslmode; the server's certificate is not verified (use verify-full)"
        );
    }
    Ok(target)
}
