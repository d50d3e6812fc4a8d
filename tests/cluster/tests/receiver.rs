//! The result receiver on the real API server: whose word it takes.

use std::net::SocketAddr;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use ptah_cluster_tests::{PATIENCE, World, shared};
use ptah_contract::digest::Digest;
use ptah_contract::protocol::{
    MAX_OUTCOME_BYTES, OUTCOME_MEDIA_TYPE, Outcome, PROTOCOL_VERSION, RESULT_AUDIENCE, Request, Step,
    StepFailure, result_name,
};
use reqwest::{Body, Certificate, Client, Method, RequestBuilder, header};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

const TABLE: &str = "CREATE TABLE t (id bigint PRIMARY KEY);";

/// A way to the receiver, as a Pod has it.
struct Receiver {
    runtime: Runtime,
    client: Client,
    endpoint: String,
}

/// What one delivery says.
#[derive(Clone)]
struct Delivery {
    token: Option<String>,
    identity: Value,
    pod: Value,
}

impl Receiver {
    fn reach(request: &Request) -> Self {
        let host = request
            .delivery
            .endpoint
            .strip_prefix("https://")
            .unwrap()
            .to_owned();
        let host = host.split(':').next().unwrap().to_owned();
        let address = shared()
            .cluster
            .ask(&[
                "get",
                "service",
                "ptah-operator-results",
                "-n",
                xtask::stage::NAMESPACE,
                "-o",
                "jsonpath={.spec.clusterIP}",
            ])
            .unwrap();
        let client = Client::builder()
            .tls_certs_only(Certificate::from_pem_bundle(request.delivery.trust.as_bytes()).unwrap())
            .resolve(&host, SocketAddr::new(address.parse().unwrap(), 443))
            .no_proxy()
            .build()
            .unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        Self {
            runtime,
            client,
            endpoint: request.delivery.endpoint.clone(),
        }
    }

    fn request(&self, method: Method, delivery: &Delivery) -> RequestBuilder {
        let part = |key: &str| delivery.identity[key].as_str().unwrap();
        let name = result_name(
            part("namespace"),
            part("uid"),
            part("operationId"),
            part("jobName"),
        );
        let speaker = json!({"identity": delivery.identity, "pod": delivery.pod}).to_string();
        let request = self
            .client
            .request(method, format!("{}/v1/results/{name}", self.endpoint))
            .header("X-Ptah-Result-Identity", BASE64_URL_SAFE_NO_PAD.encode(speaker))
            .header(header::CONTENT_TYPE, OUTCOME_MEDIA_TYPE);
        match &delivery.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    /// Status and text of the answer.
    fn send(&self, request: RequestBuilder) -> (u16, String) {
        self.runtime.block_on(async {
            let answer = request.send().await.unwrap();
            (answer.status().as_u16(), answer.text().await.unwrap())
        })
    }

    fn ask(&self, delivery: &Delivery) -> (u16, String) {
        self.send(self.request(Method::HEAD, delivery))
    }

    fn deliver(&self, delivery: &Delivery, body: &[u8]) -> (u16, String) {
        let digest = Digest::of(body).to_string();
        self.send(
            self.request(Method::PUT, delivery)
                .header("X-Ptah-Result-Digest", digest)
                .body(body.to_vec()),
        )
    }

    /// Says how much will come, and sends nothing of it.
    fn announce(&self, delivery: &Delivery, size: usize) -> (u16, String) {
        let nothing = futures::stream::pending::<Result<Vec<u8>, std::io::Error>>();
        self.send(
            self.request(Method::PUT, delivery)
                .header("X-Ptah-Result-Digest", Digest::of(b"").to_string())
                .header(header::CONTENT_LENGTH, size)
                .body(Body::wrap_stream(nothing)),
        )
    }
}

/// A token as the kubelet would project it into a Pod, or one that is bound to none.
fn token(namespace: &str, audience: Option<&str>, pod: Option<&Value>) -> String {
    let mut arguments = vec!["create", "token", "default", "-n", namespace, "--duration=10m"];
    let audience = audience.map(|audience| format!("--audience={audience}"));
    arguments.extend(audience.as_deref());
    if let Some(pod) = pod {
        let part = |key: &str| pod["metadata"][key].as_str().unwrap();
        arguments.extend(["--bound-object-kind=Pod", "--bound-object-name", part("name")]);
        arguments.extend(["--bound-object-uid", part("uid")]);
    }
    shared().cluster.ask(&arguments).unwrap()
}

fn facts(pod: &Value, job: &Value) -> Value {
    json!({"podName": pod["metadata"]["name"], "podUid": pod["metadata"]["uid"], "jobUid": job["metadata"]["uid"]})
}

/// A Pod of somebody else in the namespace. It never runs; it exists.
fn other_pod(world: &World) -> Value {
    world
        .put(json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "mallory"}, "spec": {
            "nodeSelector": {"ptah-test-receiver": "never"},
            "securityContext": {"runAsNonRoot": true, "runAsUser": 1000, "seccompProfile": {"type": "RuntimeDefault"}},
            "containers": [{"name": "c", "image": "registry.example/none:1", "securityContext": {
                "allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}}}],
        }}))
        .unwrap();
    world.object("pod", "mallory").unwrap()
}

#[test]
fn only_the_pod_of_the_live_claim_is_heard_and_its_first_word_stands() {
    let world = World::new("receiver").unwrap();
    world.source(&json!({"t.sql": TABLE})).unwrap();
    // No node has the label: the claim stays live, and its Pod never speaks for itself.
    world
        .schema(&json!({"execution": {"nodeSelector": {"ptah-test-receiver": "never"}}}))
        .unwrap();
    let job_name = world
        .until("the reading to be claimed", |schema| {
            schema["status"]["activeOperation"]["jobName"].is_string()
        })
        .unwrap()["status"]["activeOperation"]["jobName"]
        .as_str()
        .unwrap()
        .to_owned();
    let pod = shared()
        .cluster
        .wait("its Pod", PATIENCE, || Ok(world.all("pods")?.into_iter().next()))
        .unwrap();
    let job = world.object("job", &job_name).unwrap();
    let text = pod["metadata"]["annotations"]["operator.ptah.run/request"]
        .as_str()
        .unwrap();
    let request = Request::from_bytes(text.as_bytes()).unwrap();
    let receiver = Receiver::reach(&request);
    let namespace = world.namespace();
    let mallory = other_pod(&world);

    let right = Delivery {
        token: Some(token(&namespace, Some(RESULT_AUDIENCE), Some(&pod))),
        identity: serde_json::to_value(&request.identity).unwrap(),
        pod: facts(&pod, &job),
    };
    let theirs = token(&namespace, Some(RESULT_AUDIENCE), Some(&mallory));
    let with = |change: &dyn Fn(&mut Delivery)| {
        let mut delivery = right.clone();
        change(&mut delivery);
        delivery
    };
    let outcome = |message: &str| {
        let transient = ptah_contract::failure::FailureClass::Transient;
        let failure = ptah_contract::failure::Failure::new("connection_refused", transient, message);
        ptah_contract::canonical::to_bytes(&Outcome {
            version: PROTOCOL_VERSION,
            operation: request.identity.operation,
            operation_id: request.identity.operation_id.clone(),
            source: None,
            target: None,
            observe: None,
            plan: None,
            apply: None,
            failure: Some(StepFailure {
                step: Step::Observe,
                failure,
            }),
        })
        .unwrap()
    };
    let body = outcome("one");

    let refusals: [(&str, Delivery, u16, &str); 9] = [
        ("no token", with(&|d| d.token = None), 401, "bearer token"),
        (
            "a token of the API server's audience",
            with(&|d| d.token = Some(token(&namespace, None, Some(&pod)))),
            401,
            "the token is not valid for results",
        ),
        (
            "no token at all but words",
            with(&|d| d.token = Some("eyJhbGciOiJub25lIn0.e30.".to_owned())),
            401,
            "the token is not valid for results",
        ),
        (
            "a token that is bound to no Pod",
            with(&|d| d.token = Some(token(&namespace, Some(RESULT_AUDIENCE), None))),
            403,
            "the token is not bound to this pod",
        ),
        (
            "another Pod that says it is the right one",
            with(&|d| d.token = Some(theirs.clone())),
            403,
            "the token is not bound to this pod",
        ),
        (
            "another Pod in its own name",
            with(&|d| {
                d.token = Some(theirs.clone());
                d.pod = facts(&mallory, &job);
            }),
            403,
            "the pod is not of this job",
        ),
        (
            "a Pod of another namespace",
            with(&|d| d.token = Some(token("default", Some(RESULT_AUDIENCE), None))),
            403,
            "the token is of no service account of the resource's namespace",
        ),
        (
            "the right Pod for another claim",
            with(&|d| d.identity["operationId"] = Digest::of(b"another").to_string().into()),
            403,
            "the resource's claim is another",
        ),
        (
            "the right Pod for another generation",
            with(&|d| d.identity["generation"] = 99.into()),
            403,
            "the resource's claim is another",
        ),
    ];
    for (case, delivery, code, words) in &refusals {
        assert_eq!(receiver.ask(delivery).0, *code, "{case}");
        let (found, said) = receiver.deliver(delivery, &body);
        assert_eq!(found, *code, "{case}: {said}");
        assert!(said.contains(words), "{case}: {said}");
    }
    let (code, said) = receiver.announce(&right, MAX_OUTCOME_BYTES + 1);
    assert_eq!(
        (code, said.contains("is larger than 12582912 bytes")),
        (413, true),
        "{said}"
    );
    assert_eq!(world.all("ptahresultrecord").unwrap(), Vec::<Value>::new());

    // The right Pod is heard; what it said first stands.
    assert_eq!(receiver.ask(&right).0, 204);
    let (code, first) = receiver.deliver(&right, &body);
    assert_eq!(code, 200, "{first}");
    let receipt: Value = serde_json::from_str(&first).unwrap();
    assert_eq!(
        (&receipt["digest"], receipt["size"].as_u64()),
        (&json!(Digest::of(&body).to_string()), Some(body.len() as u64))
    );
    assert_eq!(receiver.deliver(&right, &body), (200, first));
    let (code, said) = receiver.deliver(&right, &outcome("two"));
    assert_eq!(
        (code, said.as_str()),
        (409, "another result of this attempt is stored already")
    );
    let records = world.all("ptahresultrecord").unwrap();
    assert_eq!(records.len(), 1);
    assert_eq!(receipt["uid"], records[0]["metadata"]["uid"]);
    let schema = world.read().unwrap();
    assert_eq!(
        schema["status"]["activeOperation"]["jobName"], job_name,
        "nothing is read before the Job's end"
    );
    world.delete("ptahschema", "app").unwrap();
}
