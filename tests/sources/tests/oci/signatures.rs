//! Signatures of the real cosign, attached in real registries: found wherever they lie, and judged by what they are.

use ptah_contract::artifact::{ArtifactDescription, Attachments, Found};
use ptah_resolver::oci::{Credentials, Request, describe};
use ptah_sources_tests::oci::cosign::{BUNDLE, Listing, Signed, case, policy};
use ptah_sources_tests::oci::push::Pusher;
use ptah_sources_tests::oci::registry::{Access, Registry};
use ptah_sources_tests::oci::store::EMPTY;
use ptah_sources_tests::oci::tls::Tls;
use ptah_sources_tests::oci::token::{PASSWORD, USER};
use ptah_sources_tests::table::rows;
use ptah_verifier::Policy;
use serde_json::{Value, json};

use crate::honest::PASSWORDS;
use crate::support::{attempt, credentials, request};

/// Layout, fault, and what the verdict says: where the good one lay, or why there is none.
const TABLE: &str = "\
bundle | none | satisfied attached
tag | none | satisfied under cosign's tag
both | none | satisfied under cosign's tag
bundle | a bad one beside a good one | satisfied attached
tag | a bad one beside a good one | satisfied under cosign's tag
# B23
bundle | attached under another type | satisfied attached
bundle | the wrong key | attached: not made with this key
tag | the wrong key | under cosign's tag: not made with this key
bundle | another artifact's signature | attached: its statement is about something else
tag | another artifact's signature | under cosign's tag: its payload is about another artifact
bundle | altered payload | attached: not made with this key
bundle | an unknown version | attached: no Sigstore bundle that is known
tag | a layer without a signature | it has no annotation dev.cosignproject.cosign/signature
bundle | a statement and no signature | attached: a statement of \"https://slsa.dev/provenance/v1\"
bundle | no layer at all | the one attachment holds no Sigstore bundle, and the tag that cosign uses is not there
tag | no layer at all | nothing is attached, and the tag that cosign uses holds no signature
bundle | no signature | nothing is attached, and the tag that cosign uses is not there
";

/// The kinds of registries: how each lists what is attached, and how it is reached.
struct Place {
    registry: Registry,
    listing: Listing,
    tls: Option<Tls>,
}

impl Place {
    fn distribution() -> Self {
        Self {
            registry: Registry::distribution(None, &Access::All),
            listing: Listing::Tag,
            tls: None,
        }
    }

    fn with_referrers() -> Self {
        Self {
            registry: Registry::with_referrers(),
            listing: Listing::Api,
            tls: None,
        }
    }

    fn private() -> Self {
        let tls = Tls::new();
        Self {
            registry: Registry::distribution(Some(&tls), &Access::Passwords(PASSWORDS)),
            listing: Listing::Tag,
            tls: Some(tls),
        }
    }

    fn found(&self) -> Found {
        match self.listing {
            Listing::Api => Found::Referrers,
            Listing::Tag => Found::ReferrersTag,
        }
    }

    fn pusher(&self, repository: &str) -> Pusher {
        let authority = &self.registry.authority;
        match self.tls {
            None => Pusher::new(authority, repository),
            Some(_) => Pusher::over_tls(authority, repository, (USER, PASSWORD)),
        }
    }

    fn request(&self, repository: &str) -> Request {
        let authority = &self.registry.authority;
        let reference = format!("oci://{authority}/{repository}:v1");
        let Some(tls) = &self.tls else {
            return request(&reference);
        };
        let ca = tls.certificate.clone().into_bytes();
        let granted = ptah_contract::digest::Digest::of(&ca).to_string();
        let mut request = Request::new(reference.parse().unwrap());
        request.ca = Some(ca);
        let given: Credentials = credentials(&[
            ("registry", authority),
            ("caSHA256", &granted),
            ("username", USER),
            ("password", PASSWORD),
        ]);
        request.credentials = Some(given);
        request
    }

    /// Pushes it, and describes it with its evidence.
    async fn describe(&self, repository: &str, signed: &Signed) -> ArtifactDescription {
        self.pusher(repository).push(&signed.store(self.listing)).await;
        let request = self.request(repository);
        describe(&request, signed.digest, Attachments::Read, &attempt())
            .await
            .unwrap()
    }
}

/// The verdict in one sentence.
fn judge(key: &str, artifact: &ArtifactDescription) -> Result<String, String> {
    let policy = Policy::parse(policy(key).as_bytes()).unwrap();
    let verdict = policy.check(artifact);
    let detail = verdict.requirements[0].detail.clone();
    match verdict.is_satisfied() {
        true => Ok(detail),
        false => Err(detail),
    }
}

/// Promise of field reports B14 and B20: whatever reaches the artifact reaches its signatures, in either layout.
async fn every_row(place: Place) {
    for (number, [layout, fault, expected]) in rows(TABLE) {
        let (signed, key) = Signed::case(layout, fault);
        let described = place.describe(&format!("case{number}"), &signed).await;
        let found: Vec<Found> = described.attached.iter().map(|one| one.found).collect();
        let allowed = [Found::SignatureTag, place.found()];
        assert!(
            found.iter().all(|one| allowed.contains(one)),
            "{layout}, {fault}: {found:?}"
        );
        let verdict = judge(&key, &described);
        let (told, expected) = match expected.strip_prefix("satisfied ") {
            Some(place) => (verdict.as_ref().ok(), place),
            None => (verdict.as_ref().err(), expected),
        };
        assert!(
            told.is_some_and(|told| told.contains(expected)),
            "{layout}, {fault}: {verdict:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b14_b20_signatures_are_found_over_plain_http_where_a_tag_lists_them() {
    every_row(Place::distribution()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b14_b20_signatures_are_found_over_plain_http_where_the_referrers_api_lists_them() {
    every_row(Place::with_referrers()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b14_signatures_are_found_with_the_certificate_and_the_password_that_the_artifact_needs() {
    every_row(Place::private()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b20_a_refusal_names_what_was_found_in_each_layout() {
    let (signed, _) = Signed::case("both", "none");
    let (_, other) = case("bundle", "the wrong key");
    for place in [Place::distribution(), Place::with_referrers()] {
        let described = place.describe("both", &signed).await;
        let found: Vec<Found> = described.attached.iter().map(|one| one.found).collect();
        assert_eq!(found, [Found::SignatureTag, place.found()]);
        let why = judge(&other, &described).unwrap_err();
        for place in ["under cosign's tag", "attached"] {
            assert!(why.contains(&format!("{place}: not made with this key")), "{why}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b23_a_bundle_counts_whatever_type_it_is_listed_under() {
    let (things, key) = case("bundle", "none");
    for place in [Place::distribution(), Place::with_referrers()] {
        for (number, kind) in ["", "application/x", BUNDLE].into_iter().enumerate() {
            let mut thing = things[0].clone();
            thing["artifactType"] = json!(kind);
            let mut signed = Signed::default();
            signed.attach(&thing);
            let described = place.describe(&format!("type{number}"), &signed).await;
            // An attachment without a type of its own is what its configuration is.
            let kind = if kind.is_empty() { EMPTY } else { kind };
            assert_eq!(described.attached[0].artifact_type, kind);
            assert!(judge(&key, &described).is_ok(), "{kind}");
        }
    }
}

/// Whoever keeps the index may leave annotations out of it; what a bundle states is then asked of its manifest.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_attestation_that_is_listed_without_annotations_is_no_signature() {
    let place = Place::distribution();
    let policy = Policy::parse(b"version: 1\nrequire_signature: true\n").unwrap();
    for (fault, signs) in [("none", true), ("a statement and no signature", false)] {
        let (mut signed, _) = Signed::case("bundle", fault);
        let annotations = signed.listed[0].as_object_mut().unwrap().remove("annotations");
        let repository = format!("plain-{signs}");
        place.describe(&repository, &signed).await;
        for asked in [Attachments::Listed, Attachments::Read] {
            let described = describe(&place.request(&repository), signed.digest, asked, &attempt()).await;
            let described = described.unwrap();
            let found: Value = json!(described.attached[0].annotations);
            assert_eq!(Some(&found), annotations.as_ref(), "{fault}");
            assert_eq!(policy.check(&described).is_satisfied(), signs, "{fault}");
        }
    }
}
