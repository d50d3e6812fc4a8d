//! The step Apply: reassemble, hash, and run exactly those bytes.

use std::path::Path;

use ptah_contract::digest::Digest;
use ptah_contract::failure::{Failure, FailureClass};
use ptah_contract::protocol::{ApplyInput, ApplyReport, MAX_PLAN_BYTES, Outcome, Request, paths};
use ptah_engine::{ApplyOutcome, Deadline, Target};

use super::deliver::Delivery;
use super::outcome;

pub(super) async fn run(
    request: &Request,
    target: &Target,
    delivery: &Delivery,
    deadline: &Deadline,
) -> Outcome {
    let Some(input) = &request.apply else {
        return outcome::failed(
            request,
            Failure::new(
                "invalid_request",
                FailureClass::Internal,
                "the request names no plan",
            ),
        );
    };
    if request.target_identity_digest != Some(target.identity_digest()) {
        let message = "the Secret leads to another database than the one that the plan was made for";
        return outcome::failed(
            request,
            Failure::new("target_binding_mismatch", FailureClass::Refused, message),
        );
    }
    let document = match assemble(Path::new(paths::PLAN_DIR), input) {
        Ok(document) => document,
        Err(failed) => return outcome::failed(request, failed),
    };
    // The fence: the last thing before the first statement is to ask whether the claim is still the live one.
    let fence = async || delivery.preflight().await;
    let ended = ptah_engine::apply(
        target,
        &document,
        input.plan_digest,
        &request.policy,
        fence,
        deadline,
    )
    .await;
    let report = match ended {
        ApplyOutcome::Applied { statements } => ApplyReport::Applied {
            plan_digest: input.plan_digest,
            statements,
        },
        ApplyOutcome::NothingCommitted { failure } => ApplyReport::NothingCommitted { failure },
        ApplyOutcome::Uncertain {
            failure,
            statements_done,
        } => ApplyReport::Uncertain {
            failure,
            statements: statements_done,
        },
    };
    Outcome {
        apply: Some(report),
        ..outcome::empty(request)
    }
}

/// Puts the chunks together in order and holds them to the approved size and digest.
fn assemble(directory: &Path, input: &ApplyInput) -> Result<Vec<u8>, Failure> {
    let refuse = |message: String| Failure::new("plan_digest_mismatch", FailureClass::Attention, message);
    let mut document = Vec::new();
    for index in 0..usize::try_from(input.chunks).unwrap_or(0) {
        let name = paths::chunk_file(index);
        let chunk = std::fs::read(directory.join(&name)).map_err(|error| {
            refuse(format!(
                "chunk {name} of the plan cannot be read: {}",
                error.kind()
            ))
        })?;
        document.extend_from_slice(&chunk);
        if document.len() > MAX_PLAN_BYTES {
            return Err(refuse("the plan is larger than 8 MiB".to_owned()));
        }
    }
    if document.len() as u64 != input.size || Digest::of(&document) != input.plan_digest {
        return Err(refuse(
            "the plan's chunks do not give the approved digest".to_owned(),
        ));
    }
    Ok(document)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promise_p029_only_the_approved_bytes_are_assembled() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("000.plan"), "one").unwrap();
        std::fs::write(folder.path().join("001.plan"), "two").unwrap();
        let input = ApplyInput {
            plan_digest: Digest::of(b"onetwo"),
            size: 6,
            chunks: 2,
            plan_fingerprint: Digest::of(b"f"),
        };
        assert_eq!(assemble(folder.path(), &input).unwrap(), b"onetwo");
        std::fs::write(folder.path().join("001.plan"), "twO").unwrap();
        assert_eq!(
            assemble(folder.path(), &input).unwrap_err().code,
            "plan_digest_mismatch"
        );
        std::fs::remove_file(folder.path().join("001.plan")).unwrap();
        assert!(
            assemble(folder.path(), &input)
                .unwrap_err()
                .message
                .contains("001.plan")
        );
    }
}
