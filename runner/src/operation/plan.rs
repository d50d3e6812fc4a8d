//! The step Plan.

use std::path::Path;

use ptah_contract::protocol::{Outcome, PlanReport, PlanResult, Request, paths};
use ptah_engine::{Code, Deadline, Planned, Target};

use super::{outcome, read};

/// Plans twice, proves, and returns the bytes. What the policy says about a destructive plan is the manager's to
/// judge, since such a plan is published all the same; a protected table is refused here.
pub(super) async fn run(request: &Request, target: &Target, deadline: &Deadline) -> Outcome {
    match planned(request, target, deadline).await {
        Ok(planned) => Outcome {
            target: Some(outcome::reading(target, &planned.observation)),
            plan: Some(report(planned)),
            ..outcome::empty(request)
        },
        Err(error) => outcome::failed(request, error.to_failure()),
    }
}

async fn planned(request: &Request, target: &Target, deadline: &Deadline) -> ptah_engine::Result<Planned> {
    let scratch = read::scratch(request, target, deadline).await?;
    let desired = Path::new(paths::CONTENT_DIR);
    let planned = ptah_engine::plan(target, desired, &scratch, &request.policy, deadline).await?;
    let refused = planned
        .refusals
        .iter()
        .map(ptah_engine::Refusal::to_error)
        .find(|error| error.kind() != Code::DestructiveNotAllowed);
    match refused {
        Some(error) => Err(error),
        None => Ok(planned),
    }
}

fn report(planned: Planned) -> PlanReport {
    let changes = !planned.no_change;
    PlanReport {
        result: if changes {
            PlanResult::Changes
        } else {
            PlanResult::NoChanges
        },
        actual_state_fingerprint: planned.plan.from_fingerprint,
        desired_state_fingerprint: planned.plan.to_fingerprint,
        scope: planned.plan.scope.clone(),
        plan_digest: changes.then_some(planned.digest),
        document: changes.then(|| String::from_utf8_lossy(&planned.document).into_owned()),
    }
}
