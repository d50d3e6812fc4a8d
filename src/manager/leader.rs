//! Leader election: one replica runs the controller.

use std::time::Duration;

use kube::Client;
use kube_lease_manager::LeaseManagerBuilder;
use ptah_api::names;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::Arguments;

/// How long to wait, when stopping, for the Lease to be given back.
const RESIGN_FOR: Duration = Duration::from_secs(5);

/// Being the leader.
pub(super) struct Leadership {
    state: Option<watch::Receiver<bool>>,
    task: Option<tokio::task::JoinHandle<()>>,
}

/// Waits until this replica leads; `None` when it was stopped before.
pub(super) async fn elect(
    arguments: &Arguments,
    client: &Client,
    stop: &CancellationToken,
) -> anyhow::Result<Option<Leadership>> {
    if !arguments.leader_elect {
        return Ok(Some(Leadership {
            state: None,
            task: None,
        }));
    }
    let manager = LeaseManagerBuilder::new(client.clone(), names::LEADER_LEASE)
        .with_namespace(arguments.coordination_namespace())
        .with_duration(30)
        .with_grace(10)
        .build()
        .await?;
    let (mut state, task) = manager.watch().await;
    let task = tokio::spawn(async move {
        if let Err(error) = task.await {
            tracing::error!(%error, "leader election ended");
        }
    });
    loop {
        if *state.borrow_and_update() {
            return Ok(Some(Leadership {
                state: Some(state),
                task: Some(task),
            }));
        }
        tokio::select! {
            () = stop.cancelled() => return Ok(None),
            changed = state.changed() => changed?,
        }
    }
}

impl Leadership {
    /// Waits until it is lost.
    pub(super) async fn lost(&self) {
        let Some(state) = &self.state else {
            return std::future::pending().await;
        };
        let mut state = state.clone();
        while *state.borrow_and_update() {
            if state.changed().await.is_err() {
                return;
            }
        }
    }

    /// Gives the Lease back, so that the next leader need not wait for it to lapse.
    pub(super) async fn resign(self) {
        drop(self.state);
        if let Some(task) = self.task {
            // A Lease that is not given back lapses by itself.
            let _ = tokio::time::timeout(RESIGN_FOR, task).await;
        }
    }
}
