//! Every bound field moves the fingerprint; nothing else exists that could.

use proptest::prelude::*;

use super::*;

fn sample() -> SchemaPlanBinding {
    serde_json::from_str(include_str!("../../testdata/plan-binding.json")).unwrap()
}

#[test]
fn promise_p049_the_vector_has_its_fingerprint_byte_for_byte() {
    let text = include_str!("../../testdata/plan-binding.json");
    assert_eq!(
        String::from_utf8(canonical::to_bytes(&sample()).unwrap()).unwrap(),
        text.trim_end()
    );
    assert_eq!(
        sample().fingerprint().unwrap().to_string(),
        include_str!("../../testdata/plan-binding.fingerprint").trim_end()
    );
}

/// Walks the encoding, changes one leaf after the other, and demands another fingerprint (or a refusal) each time.
#[test]
fn promise_p049_changing_any_bound_field_changes_the_fingerprint() {
    let base = serde_json::to_value(sample()).unwrap();
    let first = sample().fingerprint().unwrap();
    let mut leaves = Vec::new();
    collect(&base, &mut String::new(), &mut leaves);
    assert!(leaves.len() >= 20, "{leaves:?}");
    for pointer in leaves {
        let mut changed = base.clone();
        let leaf = changed.pointer_mut(&pointer).unwrap();
        *leaf = match leaf {
            serde_json::Value::Bool(b) => (!*b).into(),
            serde_json::Value::Number(n) => (n.as_u64().unwrap() + 1).into(),
            serde_json::Value::String(s) if s.starts_with("sha256:") => {
                Digest::of(s.as_bytes()).to_string().into()
            }
            serde_json::Value::String(s) => format!("{s}x").into(),
            other => panic!("unexpected leaf {other} at {pointer}"),
        };
        // A tag such as source.kind may become unreadable, which is as good as another identity.
        if let Ok(binding) = serde_json::from_value::<SchemaPlanBinding>(changed) {
            assert_ne!(binding.fingerprint().ok(), Some(first), "{pointer} is not bound");
        }
    }
}

#[test]
fn absent_policies_are_bound_as_absent() {
    let mut changed = sample();
    changed.source_policy = None;
    assert_ne!(changed.fingerprint(), sample().fingerprint());
}

#[test]
fn another_contract_version_and_an_unsorted_set_are_refused() {
    let mut old = sample();
    old.contract_version = 1;
    assert_eq!(old.fingerprint(), Err(Error::Version(1)));
    let mut unsorted = sample();
    unsorted.privilege_changes = vec!["Revoke".into(), "Grant".into()];
    assert_eq!(unsorted.fingerprint(), Err(Error::Order));
}

fn collect(value: &serde_json::Value, at: &mut String, leaves: &mut Vec<String>) {
    let children: Vec<(String, &serde_json::Value)> = match value {
        serde_json::Value::Object(map) => map.iter().map(|(k, v)| (k.clone(), v)).collect(),
        serde_json::Value::Array(list) => list.iter().enumerate().map(|(i, v)| (i.to_string(), v)).collect(),
        serde_json::Value::Null => return,
        _ => return leaves.push(at.clone()),
    };
    for (key, child) in children {
        let length = at.len();
        at.push('/');
        at.push_str(&key);
        collect(child, at, leaves);
        at.truncate(length);
    }
}

proptest! {
    #[test]
    fn two_bindings_have_one_fingerprint_exactly_when_they_are_equal(
        a in any::<(u8, bool, u32)>(), b in any::<(u8, bool, u32)>()
    ) {
        let make = |(seed, destructive, count): (u8, bool, u32)| {
            let mut binding = sample();
            binding.content_digest = Digest::of(&[seed]);
            binding.destructive = destructive;
            binding.statement_count = count;
            binding
        };
        prop_assert_eq!(make(a) == make(b), make(a).fingerprint() == make(b).fingerprint());
    }

    #[test]
    fn an_encoded_binding_reads_back_as_itself(uid in "\\PC{0,40}", count in any::<u32>()) {
        let mut binding = sample();
        binding.resource_uid = uid;
        binding.statement_count = count;
        let bytes = canonical::to_bytes(&binding).unwrap();
        prop_assert_eq!(serde_json::from_slice::<SchemaPlanBinding>(&bytes).unwrap(), binding);
    }
}
