//! Leader election: one replica runs the controller.
//!
//! It keeps two replicas from doing the same work, and is no fence: what a replica does after it lost the Lease, paused
//! or cut off, is refused by the status that its successor wrote, by the realm's Lease, and at the database.

use std::time::{Duration, Instant};

use kube::Client;
use kube_lease_manager::{LeaseManager, LeaseManagerBuilder};
use ptah_api::names;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{Arguments, patience};

/// How long the Lease holds without being renewed, in seconds.
const DURATION: u64 = 30;
/// It is renewed this long before it lapses, in seconds. An attempt takes at most a third of it, so that several fit.
const GRACE: u64 = 15;
/// How long renewals may fail before the Lease is taken for lost: it was renewed [`GRACE`] before it would lapse.
const FAILING_FOR: Duration = Duration::from_secs(GRACE - 2);
/// Failures further apart than this had a success between them.
const APART: Duration = Duration::from_secs(12);
/// Time between two attempts.
const AGAIN_AFTER: Duration = Duration::from_secs(1);
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
    let built = patience::answered("the leader's Lease", stop, async || {
        let mut builder = LeaseManagerBuilder::new(client.clone(), names::LEADER_LEASE)
            .with_namespace(arguments.coordination_namespace())
            .with_duration(DURATION)
            .with_grace(GRACE);
        if let Some(pod) = &arguments.pod_name {
            // A container that starts again in the same Pod is the same candidate: nobody else has its Lease.
            builder = builder.with_identity(pod);
        }
        Ok(builder.build().await?)
    });
    let Some(manager) = built.await? else {
        return Ok(None);
    };
    let (told, mut state) = watch::channel(false);
    let task = tokio::spawn(campaign(manager, told));
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

/// Takes and keeps the Lease, until nobody asks any more; then gives it back. A leader that cannot renew says that it
/// is none before another may take over.
async fn campaign(manager: LeaseManager, told: watch::Sender<bool>) {
    let mut failing: Option<(Instant, Instant)> = None;
    loop {
        let changed = tokio::select! {
            () = told.closed() => break,
            changed = manager.changed() => changed,
        };
        match changed {
            Ok(leads) => {
                failing = None;
                told.send_replace(leads);
            }
            Err(error) => {
                tracing::warn!(error = %error, "the leader's Lease could not be read or renewed");
                let now = Instant::now();
                let since = failing
                    .filter(|(_, last)| now.duration_since(*last) < APART)
                    .map_or(now, |(first, _)| first);
                failing = Some((since, now));
                if now.duration_since(since) >= FAILING_FOR {
                    told.send_replace(false);
                }
                tokio::time::sleep(AGAIN_AFTER).await;
            }
        }
    }
    if let Err(error) = manager.release().await {
        tracing::warn!(error = %error, "the leader's Lease was not given back; it lapses by itself");
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
