//! What became of a claim's Job, read uncached.

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{ContainerStatus, Pod};
use kube::api::ListParams;
use kube::{Api, Client, ResourceExt as _};
use ptah_api::{ActiveOperation, PtahSchema};

use super::job;
use crate::lifecycle::evidence::JobEvidence;

const JOB_LABEL: &str = "batch.kubernetes.io/job-name";
/// Longest part of a container's message that is passed on, in characters.
const MESSAGE_CHARS: usize = 512;

/// The claim's Job.
///
/// # Errors
/// When the API server cannot be asked.
pub async fn read(
    client: &Client,
    schema: &PtahSchema,
    operation: &ActiveOperation,
) -> Result<JobEvidence, kube::Error> {
    let namespace = schema.namespace().unwrap_or_default();
    let jobs: Api<Job> = Api::namespaced(client.clone(), &namespace);
    let Some(found) = jobs.get_opt(&operation.job_name).await? else {
        return Ok(JobEvidence::Missing);
    };
    if !job::is_ours(&found, schema, operation) {
        return Ok(JobEvidence::Foreign);
    }
    let conditions = found
        .status
        .as_ref()
        .and_then(|status| status.conditions.clone())
        .unwrap_or_default();
    let ended = conditions.iter().find(|condition| {
        condition.status == "True" && matches!(condition.type_.as_str(), "Complete" | "Failed")
    });
    let pods = pods_of(client, &namespace, &operation.job_name).await?;
    Ok(match ended {
        Some(condition) => JobEvidence::Finished {
            message: pods.iter().find_map(message_of),
            deadline: condition.reason.as_deref() == Some("DeadlineExceeded"),
        },
        None => JobEvidence::Running {
            trouble: pods.iter().find_map(trouble_of),
            source_reached: pods.iter().any(source_reached),
        },
    })
}

/// Whether a Pod of this Job may still be running: also when the Job itself is gone.
///
/// # Errors
/// When the API server cannot be asked.
pub async fn pod_active(client: &Client, namespace: &str, job_name: &str) -> Result<bool, kube::Error> {
    let ended = |pod: &Pod| {
        let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
        matches!(phase, Some("Succeeded" | "Failed"))
    };
    Ok(pods_of(client, namespace, job_name)
        .await?
        .iter()
        .any(|pod| !ended(pod)))
}

async fn pods_of(client: &Client, namespace: &str, job_name: &str) -> Result<Vec<Pod>, kube::Error> {
    let pods: Api<Pod> = Api::namespaced(client.clone(), namespace);
    Ok(pods
        .list(&ListParams::default().labels(&format!("{JOB_LABEL}={job_name}")))
        .await?
        .items)
}

fn statuses(pod: &Pod) -> impl Iterator<Item = &ContainerStatus> {
    let status = pod.status.as_ref();
    let init = status.and_then(|status| status.init_container_statuses.as_ref());
    let main = status.and_then(|status| status.container_statuses.as_ref());
    init.into_iter().flatten().chain(main.into_iter().flatten())
}

/// What the first container that failed said: diagnostic only, it decides nothing.
fn message_of(pod: &Pod) -> Option<String> {
    statuses(pod).find_map(|container| {
        let ended = container.state.as_ref()?.terminated.as_ref()?;
        if ended.exit_code == 0 {
            return None;
        }
        let said = ended.message.as_deref().filter(|message| !message.is_empty());
        let said = said.or(ended.reason.as_deref()).unwrap_or("no message");
        Some(format!(
            "container {}: {}",
            container.name,
            said.chars().take(MESSAGE_CHARS).collect::<String>()
        ))
    })
}

/// Whether the Pod's container that reaches the source has done so.
fn source_reached(pod: &Pod) -> bool {
    statuses(pod).any(|container| {
        let ended = container
            .state
            .as_ref()
            .and_then(|state| state.terminated.as_ref());
        container.name == job::SOURCE && ended.is_some_and(|ended| ended.exit_code == 0)
    })
}

/// Why a Pod does not run, where the cluster says so.
fn trouble_of(pod: &Pod) -> Option<String> {
    let waiting = statuses(pod).find_map(|container| {
        let waiting = container.state.as_ref()?.waiting.as_ref()?;
        let reason = waiting.reason.as_deref()?;
        (!matches!(reason, "PodInitializing" | "ContainerCreating")).then(|| {
            format!(
                "container {}: {reason}: {}",
                container.name,
                waiting.message.as_deref().unwrap_or("")
            )
        })
    });
    waiting.or_else(|| unscheduled(pod)).or_else(|| unmounted(pod))
}

fn unscheduled(pod: &Pod) -> Option<String> {
    let conditions = pod.status.as_ref()?.conditions.as_ref()?;
    let scheduled = conditions
        .iter()
        .find(|condition| condition.type_ == "PodScheduled")?;
    let message = scheduled.message.as_deref().unwrap_or("");
    (scheduled.status == "False").then(|| format!("the Pod cannot be scheduled: {message}"))
}

/// A Pod none of whose containers has started a minute after it was scheduled waits for a volume, most likely for a
/// Secret that does not exist: the kubelet says so in Events alone.
fn unmounted(pod: &Pod) -> Option<String> {
    let started = pod.status.as_ref()?.start_time.as_ref()?;
    let late = Timestamp::now().duration_since(started.0) > SignedDuration::from_secs(60);
    let none = statuses(pod).all(|container| {
        container
            .state
            .as_ref()
            .is_some_and(|state| state.waiting.is_some())
    });
    (late && none).then(|| {
        "the Pod's containers do not start: check that the Secret and the key that spec.target names exist".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_source_is_reached_when_its_container_ended_well() {
        for (state, reached) in [
            (json!({"terminated": {"exitCode": 0}}), true),
            (json!({"terminated": {"exitCode": 1}}), false),
            (json!({"running": {}}), false),
            (json!({"waiting": {"reason": "PodInitializing"}}), false),
        ] {
            let status = |name: &str, state: &serde_json::Value| json!({"name": name, "image": "i", "imageID": "", "ready": false, "restartCount": 0, "state": state});
            let ended = json!({"terminated": {"exitCode": 0}});
            let pod = json!({"status": {"initContainerStatuses": [status("snapshot", &ended), status("source", &state)]}});
            let pod: Pod = serde_json::from_value(pod).unwrap();
            assert_eq!(source_reached(&pod), reached, "{state}");
        }
    }
}
