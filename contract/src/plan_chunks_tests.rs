//! What was cut is put together again, and nothing else is.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

struct Stored {
    rows: Vec<(i64, String, i64, String)>,
    whole: Whole,
    objects: BTreeMap<String, Vec<u8>>,
}

impl Stored {
    fn of(document: &[u8]) -> Self {
        let parts = split(document).unwrap();
        let mut stored = Self {
            rows: Vec::new(),
            whole: Whole {
                size: document.len() as i64,
                digest: Digest::of(document),
            },
            objects: BTreeMap::new(),
        };
        for (index, part) in parts.iter().enumerate() {
            let name = format!("plan-{index:03}");
            stored.rows.push((
                index as i64,
                name.clone(),
                part.len() as i64,
                Digest::of(part).to_string(),
            ));
            stored.objects.insert(name, part.to_vec());
        }
        stored
    }

    fn load(&self) -> Result<Vec<u8>, Error> {
        let recorded: Vec<_> = self
            .rows
            .iter()
            .map(|(index, name, size, digest)| Recorded {
                index: *index,
                name,
                size: *size,
                digest,
            })
            .collect();
        join(&recorded, self.whole, |name| {
            self.objects.get(name).map(Vec::as_slice)
        })
    }
}

fn document(length: usize) -> Vec<u8> {
    (0..length).map(|i| (i % 251) as u8).collect()
}

#[test]
fn promise_p012_a_plan_is_cut_at_512_kib_and_comes_back_byte_for_byte() {
    for (length, parts) in [
        (1, 1),
        (CHUNK_BYTES, 1),
        (CHUNK_BYTES + 1, 2),
        (1_200_000, 3),
        (MAX_PLAN_BYTES, MAX_CHUNKS),
    ] {
        let document = document(length);
        let stored = Stored::of(&document);
        assert_eq!(stored.rows.len(), parts, "{length}");
        assert_eq!(stored.load().unwrap(), document, "{length}");
    }
    assert_eq!(split(&[]), Err(Error::Empty));
    assert_eq!(
        split(&vec![0; MAX_PLAN_BYTES + 1]),
        Err(Error::TooLarge(MAX_PLAN_BYTES + 1))
    );
}

#[test]
fn promise_p013_bytes_that_are_not_the_recorded_ones_are_never_returned() {
    let good = || Stored::of(&document(CHUNK_BYTES + 10));
    let mut missing = good();
    missing.objects.remove("plan-001");
    assert_eq!(missing.load(), Err(Error::Missing("plan-001".into())));

    let mut longer = good();
    longer.objects.get_mut("plan-001").unwrap().push(0);
    assert_eq!(
        longer.load(),
        Err(Error::Different {
            name: "plan-001".into(),
            what: "size"
        })
    );

    let mut edited = good();
    edited.objects.get_mut("plan-000").unwrap()[7] ^= 1;
    assert_eq!(
        edited.load(),
        Err(Error::Different {
            name: "plan-000".into(),
            what: "digest"
        })
    );

    // Record and object agree with each other; only the approved digest says that they are another plan.
    let mut replaced = good();
    let other = vec![9; 10];
    replaced.rows[1].3 = Digest::of(&other).to_string();
    replaced.objects.insert("plan-001".into(), other);
    assert_eq!(replaced.load(), Err(Error::Whole("digest")));
}

#[test]
fn a_record_that_cannot_be_is_refused_before_anything_is_read() {
    let mut swapped = Stored::of(&document(CHUNK_BYTES + 10));
    swapped.rows.swap(0, 1);
    assert_eq!(swapped.load(), Err(Error::Record("its parts out of order")));
    let mut short = Stored::of(&document(CHUNK_BYTES + 10));
    short.rows[0].2 -= 1;
    assert_eq!(short.load(), Err(Error::Record("a part of an impossible size")));
    let mut total = Stored::of(&document(10));
    total.whole.size = 11;
    assert_eq!(
        total.load(),
        Err(Error::Record("a size that its parts do not add up to"))
    );
    let mut none = Stored::of(&document(10));
    none.rows.clear();
    assert_eq!(none.load(), Err(Error::Record("no part, or more than sixteen")));
    let mut spelled = Stored::of(&document(10));
    spelled.rows[0].3 = spelled.rows[0].3.to_uppercase();
    assert_eq!(
        spelled.load(),
        Err(Error::Different {
            name: "plan-000".into(),
            what: "digest"
        })
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn changing_any_one_byte_is_noticed(length in 1_usize..4096, at in any::<prop::sample::Index>(), flip in 1_u8..) {
        let mut stored = Stored::of(&document(length));
        let at = at.index(length);
        stored.objects.get_mut("plan-000").unwrap()[at] ^= flip;
        prop_assert!(stored.load().is_err());
    }
}
