//! The plan document and its pieces.

use ptah_contract::digest::Digest;
use ptah_contract::plan_chunks::{self, Recorded, Whole};
use ptah_contract::plan_document::{MAX_BYTES, PlanDocument, PlanDocumentError};

/// What is read is exactly those bytes; what another reader would take for a plan has one encoding, which is read as
/// that plan or refused for what it says; the pieces give the whole again.
pub fn plan_document(data: &[u8]) {
    if let Ok(document) = PlanDocument::decode(data) {
        assert_eq!(
            document.encode().expect("a plan that was read is not too large"),
            data
        );
        pieces(data);
    }
    // The same, past the canonical encoding, which bytes changed at random seldom keep.
    let Ok(document) = serde_json::from_slice::<PlanDocument>(data) else {
        return;
    };
    let Ok(bytes) = document.encode() else { return };
    assert!(bytes.len() <= MAX_BYTES);
    match PlanDocument::decode(&bytes) {
        Ok(read) => {
            assert_eq!(read, document);
            pieces(&bytes);
        }
        Err(PlanDocumentError::Version | PlanDocumentError::Dialect | PlanDocumentError::Inconsistent(_)) => {
        }
        Err(error) => panic!("its own encoding: {error}"),
    }
}

fn pieces(bytes: &[u8]) {
    let pieces = plan_chunks::split(bytes).expect("a plan is neither empty nor too large");
    let digests: Vec<String> = pieces.iter().map(|piece| Digest::of(piece).to_string()).collect();
    let names: Vec<String> = (0..pieces.len()).map(|index| index.to_string()).collect();
    let recorded: Vec<Recorded<'_>> = (0..pieces.len())
        .map(|index| Recorded {
            index: index as i64,
            name: &names[index],
            size: pieces[index].len() as i64,
            digest: &digests[index],
        })
        .collect();
    let whole = Whole {
        size: bytes.len() as i64,
        digest: Digest::of(bytes),
    };
    let read = |name: &str| pieces.get(name.parse::<usize>().ok()?).copied();
    assert_eq!(plan_chunks::join(&recorded, whole, read).as_deref(), Ok(bytes));
}
