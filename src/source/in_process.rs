//! The manager's own look at a source on a network: for sources without a credential, on hosts that the installation
//! lists, so that a change is seen without a Pod.
//!
//! Promises: it changes nothing, and a manager that starts anew asks again; a bounded number of looks run side by side,
//! each within a time and a size; no address is connected to that is neither public nor listed; what is too much for
//! the manager is left to a Pod.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use futures::channel::mpsc;
use ipnet::IpNet;
use kube::ResourceExt as _;
use kube::runtime::reflector::ObjectRef;
use ptah_api::{DesiredSource, PtahSchema, SourceTerms};
use ptah_contract::artifact::Verification;
use ptah_contract::canonical;
use ptah_contract::commit::CommitVerification;
use ptah_contract::digest::Digest;
use ptah_contract::failure::{Failure, FailureClass};
use ptah_contract::protocol::{SourceReport, SourceRequest, Step, StepFailure};
use ptah_contract::source_policy::HostPattern;
use ptah_resolver::git::Repository;
use ptah_resolver::net::{self, Authority, Network};
use ptah_resolver::oci::{EvidenceLimits, Reference};
use ptah_resolver::source::{Access, HeldTo};
use ptah_resolver::{content, source};
use ptah_verifier::{CommitPolicy, Policy};
use serde_json::json;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::answers::{Answers, Landing, Todo, Who};
use super::request;
use crate::lifecycle::evidence::SourceAnswer;

/// Bytes of one source, and of what is received for it.
const MOST_BYTES: u64 = 32 << 20;
/// Time for one attempt.
const TOTAL: Duration = Duration::from_secs(60);
/// Attempts after the first.
const MORE_ATTEMPTS: usize = 1;
/// Bytes that a pack may unpack to: a crafted one of some kilobytes could have all of them held at once.
const UNPACKED_BYTES: u64 = 64 << 20;
/// Signatures that are read: what reads them holds many times their bytes.
const EVIDENCE: EvidenceLimits = EvidenceLimits {
    manifests: 64,
    layers: 16,
    layer_bytes: 256 << 10,
    bytes: 1 << 20,
    rest_left_out: false,
};
/// Looks side by side: twice that fits into the memory that the chart gives the manager.
const AT_ONCE: usize = 2;
/// What says that a source is more than the manager has time and room for; a Pod, which has more, says the rest.
const TOO_MUCH: [&str; 9] = [
    "evidence_budget",
    "unpacked_budget",
    "deadline_exceeded",
    "content_limit",
    "receive_budget",
    "object_budget",
    "history_budget",
    "object_too_large",
    "answer_too_large",
];

/// Where the manager may look itself.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Hosts of repositories and registries; none, and a Pod resolves everything.
    pub hosts: Vec<HostPattern>,
    /// Networks beside the public ones.
    pub networks: Vec<IpNet>,
}

/// A source that the manager may look at, and what it is held to.
#[derive(Clone, Debug)]
pub struct Wanted(Arc<Whole>);

#[derive(Debug)]
struct Whole {
    request: SourceRequest,
    ca: Option<Vec<u8>>,
    policy: Option<Policy>,
    commits: Option<CommitPolicy>,
    /// Who is asked first.
    host: String,
    digest: Digest,
}

impl Wanted {
    /// `None` when the source is on no network, or needs a credential.
    pub(super) fn new(
        desired: &DesiredSource,
        terms: &SourceTerms,
        ca: Option<Vec<u8>>,
        policy: Option<Policy>,
        commits: Option<CommitPolicy>,
    ) -> Option<Self> {
        let request = request::at(desired, terms, None).ok()?;
        let all = json!({"request": request, "ca": ca.as_deref().map(Digest::of)});
        let digest = canonical::digest(&all).ok()?;
        Some(Self(Arc::new(Whole {
            request,
            ca,
            policy,
            commits,
            host: host(desired)?.to_string(),
            digest,
        })))
    }
}

/// The manager's looks.
pub struct InProcess {
    hosts: Vec<HostPattern>,
    network: Network,
    answers: Mutex<Answers<ObjectRef<PtahSchema>>>,
    permits: Semaphore,
    /// One look at a host at a time, so that one that answers slowly does not hold up the others.
    of_hosts: Mutex<HashMap<String, Arc<Semaphore>>>,
    woken: mpsc::UnboundedSender<ObjectRef<PtahSchema>>,
    stop: CancellationToken,
}

impl InProcess {
    /// With what wakes the resources that asked.
    #[must_use]
    pub fn new(
        settings: Settings,
        stop: CancellationToken,
    ) -> (Arc<Self>, mpsc::UnboundedReceiver<ObjectRef<PtahSchema>>) {
        let (woken, wakes) = mpsc::unbounded();
        let looks = Self {
            hosts: settings.hosts,
            network: Network::public_and(settings.networks),
            answers: Mutex::default(),
            permits: Semaphore::new(AT_ONCE),
            of_hosts: Mutex::default(),
            woken,
            stop,
        };
        (Arc::new(looks), wakes)
    }

    /// Whether the manager looks at this source itself: no credential is needed, and its host is listed.
    pub(super) fn takes(&self, desired: &DesiredSource) -> bool {
        let plain = desired
            .transport
            .as_ref()
            .and_then(|transport| transport.plain_http)
            == Some(true);
        let host = host(desired);
        host.is_some_and(|host| self.lists(&host, if plain { 80 } else { 443 }))
    }

    fn lists(&self, host: &Authority, usual: u16) -> bool {
        let port = host.port().unwrap_or(usual);
        self.hosts.iter().any(|pattern| pattern.covers(host.host(), port))
    }

    /// What is known for a resource; `None` where a Pod must look.
    pub(super) fn answer(&self, schema: &PtahSchema, wanted: &Wanted) -> Option<SourceAnswer> {
        let uid = schema.uid().unwrap_or_default();
        self.answers()
            .of(who(&uid, schema), wanted.0.digest, Instant::now())
    }

    /// A resource asks. It is woken when the answer is here.
    pub fn ask(self: &Arc<Self>, schema: &PtahSchema, wanted: &Wanted, anew: bool) {
        let (uid, resource) = (schema.uid().unwrap_or_default(), ObjectRef::from_obj(schema));
        let (source, now) = (wanted.0.digest, Instant::now());
        let todo = self
            .answers()
            .ask(who(&uid, schema), resource.clone(), source, anew, now);
        match todo {
            Todo::Wait => {}
            Todo::Wake => self.wake(resource),
            Todo::Look => {
                let (this, wanted) = (Arc::clone(self), wanted.clone());
                tokio::spawn(async move { this.look(&wanted.0).await });
            }
        }
    }

    /// A resource took its answer.
    pub fn forget(&self, schema: &PtahSchema) {
        self.answers().forget(&schema.uid().unwrap_or_default());
    }

    /// Looks until nobody waits for another answer.
    async fn look(&self, wanted: &Whole) {
        loop {
            let turn = self.turn_of(&wanted.host);
            // The semaphores are never closed.
            let (Ok(_host), Ok(_permit)) = (turn.acquire().await, self.permits.acquire().await) else {
                return;
            };
            let known = self.answers().begin(wanted.digest, Instant::now());
            let landing = AssertUnwindSafe(self.once(wanted, known)).catch_unwind().await;
            if self.stop.is_cancelled() {
                // Whatever it was cut short by is no answer.
                return;
            }
            let landing = landing.unwrap_or_else(|_| panicked());
            let (wake, again) = self.answers().landed(wanted.digest, landing, Instant::now());
            wake.into_iter().for_each(|resource| self.wake(resource));
            if !again {
                return;
            }
        }
    }

    fn turn_of(&self, host: &str) -> Arc<Semaphore> {
        let mut hosts = self.of_hosts.lock().unwrap_or_else(PoisonError::into_inner);
        // Those that nobody waits for go.
        hosts.retain(|_, turn| Arc::strong_count(turn) > 1);
        let turn = hosts
            .entry(host.to_owned())
            .or_insert_with(|| Arc::new(Semaphore::new(1)));
        Arc::clone(turn)
    }

    async fn once(&self, wanted: &Whole, known: Option<Box<SourceReport>>) -> Landing {
        let mut request = wanted.request.clone();
        request.known = known.as_ref().map(|known| known.found.clone());
        let access = Access {
            ca: wanted.ca.clone(),
            secret: None,
            network: self.network.clone(),
            scratch: None,
            out: None,
            attempt: net::Limits {
                total: TOTAL,
                bytes: MOST_BYTES,
                ..net::Limits::default()
            },
            content: content::Limits::default().at_most(MOST_BYTES),
            evidence: EVIDENCE,
            unpacked_bytes: Some(UNPACKED_BYTES),
            more_attempts: MORE_ATTEMPTS,
            stop: self.stop.clone(),
        };
        let held_to = HeldTo {
            artifact: wanted.policy.as_ref().map(|policy| policy as &dyn Verification),
            commit: wanted
                .commits
                .as_ref()
                .map(|commits| commits as &dyn CommitVerification),
        };
        match source::reach(&request, &access, held_to).await {
            Ok(mut report) => {
                if let Some(known) = known {
                    report.fetched = report.fetched.or(known.fetched);
                    // What is said now, of signatures, replaces what was said then.
                    report.verified = report.verified.or(known.verified);
                }
                Landing::Here(Ok(Box::new(report)))
            }
            Err(failed) if TOO_MUCH.contains(&failed.failure.code.as_str()) => Landing::TooMuch,
            Err(failed) => Landing::Here(Err(Box::new(failed))),
        }
    }

    fn wake(&self, resource: ObjectRef<PtahSchema>) {
        // Nobody listens any more when the controller has ended.
        let _ = self.woken.unbounded_send(resource);
    }

    fn answers(&self) -> std::sync::MutexGuard<'_, Answers<ObjectRef<PtahSchema>>> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn who<'a>(uid: &'a str, schema: &PtahSchema) -> Who<'a> {
    Who {
        uid,
        generation: schema.metadata.generation.unwrap_or_default(),
    }
}

/// The host of a source on a network that needs no credential.
fn host(desired: &DesiredSource) -> Option<Authority> {
    if let Some(git) = &desired.git {
        let repository = git.repository.parse::<Repository>().ok();
        return repository
            .filter(|repository| git.auth_from.is_none() && !repository.is_ssh())
            .map(|repository| repository.authority());
    }
    let reference = desired.oci_ref.as_ref()?.parse::<Reference>().ok();
    reference
        .filter(|_| desired.registry_auth_from.is_none())
        .map(|reference| reference.registry().clone())
}

/// A panic is one failed look and no more.
fn panicked() -> Landing {
    let message = "the look at the source broke off";
    let failure = Failure::new("panicked", FailureClass::Internal, message);
    Landing::Here(Err(Box::new(StepFailure {
        step: Step::Resolve,
        failure,
    })))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looks(hosts: &[&str]) -> Arc<InProcess> {
        let hosts = hosts.iter().map(|host| host.parse().unwrap()).collect();
        let settings = Settings {
            hosts,
            networks: Vec::new(),
        };
        InProcess::new(settings, CancellationToken::new()).0
    }

    #[test]
    fn the_manager_looks_where_it_is_listed_and_no_credential_is_needed() {
        let listed = looks(&[
            "git.example",
            "*.registry.example",
            "[fd00::1]",
            "plain.example:80",
        ]);
        let git = |repository: &str| json!({"git": {"repository": repository, "ref": "main", "path": "db"}});
        let secret = |mut desired: serde_json::Value, field: &str| {
            match field {
                "authFrom" => desired["git"][field] = json!({"name": "s"}),
                _ => desired[field] = json!({"name": "s"}),
            }
            desired
        };
        let plain =
            |reference: &str, plain: bool| json!({"ociRef": reference, "transport": {"plainHTTP": plain}});
        for (desired, takes) in [
            (git("https://git.example/app.git"), true),
            (git("https://GIT.example:8443/app.git"), true),
            (git("https://[fd00::1]/app.git"), true),
            (git("https://other.example/app.git"), false),
            (git("https://git.example.evil/app.git"), false),
            (git("ssh://git@git.example/app.git"), false),
            (git("git@git.example:app.git"), false),
            (secret(git("https://git.example/app.git"), "authFrom"), false),
            (json!({"ociRef": "oci://a.registry.example/app:v1"}), true),
            (json!({"ociRef": "oci://registry.example/app:v1"}), false),
            (json!({"ociRef": "not a reference"}), false),
            (plain("oci://plain.example/app:v1", true), true),
            (plain("oci://plain.example/app:v1", false), false),
            (
                secret(
                    json!({"ociRef": "oci://a.registry.example/app:v1"}),
                    "registryAuthFrom",
                ),
                false,
            ),
            (json!({"configMap": {"name": "sql"}}), false),
        ] {
            let parsed: DesiredSource = serde_json::from_value(desired.clone()).unwrap();
            assert_eq!(listed.takes(&parsed), takes, "{desired}");
            assert!(!looks(&[]).takes(&parsed), "nothing is listed: {desired}");
        }
    }

    #[tokio::test]
    async fn an_address_that_is_not_public_is_refused_and_the_resource_is_woken() {
        use futures::StreamExt as _;
        let settings = Settings {
            hosts: vec!["127.0.0.1".parse().unwrap()],
            networks: Vec::new(),
        };
        let (looks, mut wakes) = InProcess::new(settings, CancellationToken::new());
        let desired =
            json!({"git": {"repository": "https://127.0.0.1:1/app.git", "ref": "main", "path": "db"}});
        let desired: DesiredSource = serde_json::from_value(desired).unwrap();
        let wanted = Wanted::new(&desired, &SourceTerms::default(), None, None, None).unwrap();
        let schema: PtahSchema = serde_json::from_value(json!({
            "apiVersion": "operator.ptah.run/v1alpha1", "kind": "PtahSchema",
            "metadata": {"name": "app", "namespace": "ns", "uid": "u-1", "generation": 1},
            "spec": {"target": {"engine": "PostgreSQL", "coordinationKey": "k",
                "urlFrom": {"name": "db", "key": "url"}}, "desired": desired},
        }))
        .unwrap();
        looks.ask(&schema, &wanted, true);
        assert_eq!(wakes.next().await, Some(ObjectRef::from_obj(&schema)));
        let Some(SourceAnswer::Here {
            anew: true,
            found: Err(failed),
        }) = looks.answer(&schema, &wanted)
        else {
            panic!("it answers with a failure");
        };
        assert_eq!(failed.failure.code, "address_not_allowed");
        looks.forget(&schema);
        assert_eq!(looks.answer(&schema, &wanted), Some(SourceAnswer::NotAsked));
    }
}
