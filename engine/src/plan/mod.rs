//! From two readings to a proven plan document.
//!
//! Promises: a plan is computed twice, by two sessions and snapshots of the target and two scratch databases, and
//! both results are the same bytes; it is proven by replay; it is read by Apply's own reader before it is
//! returned. A plan that fails any of this is an error and has no bytes.

mod anticipate;
mod change;
mod column;
mod column_type;
mod ddl;
mod draft;
mod edges;
mod not_null;
mod order;
mod permission;
mod policy;
mod privileges;
mod proof;
mod rename;
mod render;
mod retype;
mod statements;

use std::path::Path;

use ptah_contract::digest::Digest;
use ptah_contract::drift::Severity;
use ptah_contract::plan_document::{FORMAT_VERSION, POSTGRES, PlanDocument, Proof, Statement};
use ptah_contract::policy::SchemaPolicy;

pub(crate) use anticipate::{anticipate, own};
pub use policy::Refusal;
pub(crate) use policy::refusals;
pub(crate) use proof::Bench;
pub(crate) use statements::statements;

use crate::apply::read_plan;
use crate::catalog::{Model, Selectors};
use crate::connect::{Deadline, Session, Target};
use crate::declared::Declared;
use crate::desired::Desired;
use crate::error::{Code, Error, Result};
use crate::observe::{Observation, Scope, look, whereabouts};
use crate::reconcile::reconcile;
use crate::scratch::Scratch;

/// A proven plan.
pub struct Planned {
    /// The bytes that a person approves.
    pub document: Vec<u8>,
    /// Their digest.
    pub digest: Digest,
    /// The same, read.
    pub plan: PlanDocument,
    /// What the plan starts from.
    pub observation: Observation,
    /// Where it leads to.
    pub desired_fingerprint: Digest,
    /// The database has the desired state.
    pub no_change: bool,
    /// Some statement is destructive.
    pub destructive: bool,
    /// Some statement changes who may do what.
    pub privilege_changes: bool,
    /// How many statements there are.
    pub statement_count: u32,
    /// Of the worst statement.
    pub highest_severity: Option<Severity>,
    /// What the policy says against it. Such a plan must not run; whether it is shown is for whoever asked.
    pub refusals: Vec<Refusal>,
}

struct Computed {
    document: PlanDocument,
    observation: Observation,
    /// As observed, or settled.
    from: Model,
    to: Model,
}

/// Plans, twice, and proves the result.
///
/// # Errors
/// Whatever keeps a safe plan from being made. What the policy forbids is no error: see [`Planned::refusals`].
pub async fn plan(
    target: &Target,
    desired: &Path,
    scratch: &Scratch,
    policy: &SchemaPolicy,
    deadline: &Deadline,
) -> Result<Planned> {
    let target = &target
        .clone()
        .with_connect_timeout(policy.connect_timeout.duration());
    // Settling costs two more schemas on the scratch server, so it is done when something asks for it.
    let (first, second, document) = match proven(target, desired, scratch, policy, deadline, false).await {
        Err(error) if error.kind() == Code::UnprovenPlan => {
            proven(target, desired, scratch, policy, deadline, true).await?
        }
        answer => answer?,
    };
    let plan = first.document;
    let digest = Digest::of(&document);
    dry_read(&document, digest, &second.observation)?;
    Ok(Planned {
        digest,
        observation: first.observation,
        desired_fingerprint: plan.to_fingerprint,
        no_change: plan.statements.is_empty(),
        destructive: plan.destructive,
        privilege_changes: !plan.privilege_changes().is_empty(),
        statement_count: u32::try_from(plan.statements.len()).unwrap_or(u32::MAX),
        highest_severity: plan.highest_severity(),
        refusals: refusals(&plan, policy),
        document,
        plan,
    })
}

/// Two computations of the same bytes, side by side, and their proof.
async fn proven(
    target: &Target,
    desired: &Path,
    scratch: &Scratch,
    policy: &SchemaPolicy,
    deadline: &Deadline,
    settled: bool,
) -> Result<(Computed, Computed, Vec<u8>)> {
    let exclude = Selectors::parse(&policy.exclude, target.pinned_schema())?;
    let desired = Desired::read(desired)?;
    let session = Session::open(target, deadline).await?;
    let here = whereabouts(&session).await?;
    let major = here.server.major;
    if scratch.major() != major {
        return Err(Error::new(
            Code::NoScratchServer,
            format!(
                "the target is PostgreSQL {major} and the scratch server is {}",
                scratch.major()
            ),
        ));
    }
    let declared = Declared::load(&desired, scratch, target.own_schema(), &here.roles, deadline).await?;
    // Copied before anything was read of it, so that nothing that a reading did is in both.
    let copy = declared.copy(scratch, deadline).await?;
    let again = Session::open(target, deadline).await?;
    let inputs = Inputs {
        scratch,
        user: &here.user,
        policy,
        exclude: &exclude,
        deadline,
        settled,
    };
    let (first, second) = tokio::join!(inputs.compute(&session, &declared), inputs.compute(&again, &copy));
    let (first, second) = (first?, second?);
    if first.document.from_fingerprint != second.document.from_fingerprint {
        return Err(Error::new(
            Code::StalePlan,
            "the database changed between the two readings of it",
        ));
    }
    let document = first
        .document
        .encode()
        .map_err(|e| Error::new(Code::UnsupportedChange, e.to_string()))?;
    if second.document.encode().ok().as_ref() != Some(&document) {
        return Err(Error::new(
            Code::NondeterministicPlan,
            "two readings of the same state gave two plans",
        ));
    }
    // Of a plan without a statement nothing is left to prove: both states were read, and they are equal.
    if !first.document.statements.is_empty() {
        let bench = Bench {
            scratch,
            scope: &Scope::exactly(first.document.scope.clone()),
            exclude: &exclude,
            user: &first.observation.user,
            roles: &first.observation.roles,
            deadline,
        };
        let atomic = policy.transaction_mode.is_atomic();
        bench
            .prove(&first.from, &first.to, &first.document.statements, atomic)
            .await?;
    }
    Ok((first, second, document))
}

/// What both computations are given.
struct Inputs<'a> {
    scratch: &'a Scratch,
    user: &'a str,
    policy: &'a SchemaPolicy,
    exclude: &'a Selectors,
    deadline: &'a Deadline,
    settled: bool,
}

/// Everything that Apply checks before it sends a statement.
fn dry_read(bytes: &[u8], digest: Digest, observed: &Observation) -> Result<()> {
    let plan = read_plan(bytes, digest)?;
    if plan.from_fingerprint != observed.fingerprint || plan.scope != observed.scope {
        return Err(Error::internal("a plan does not start from what was observed"));
    }
    Ok(())
}

impl Inputs<'_> {
    async fn compute(&self, session: &Session, declared: &Declared) -> Result<Computed> {
        let Self {
            scratch,
            user,
            policy,
            exclude,
            deadline,
            settled,
        } = *self;
        let (observation, to) = tokio::join!(
            look(session, &declared.scope, exclude),
            declared.read(exclude, user, deadline)
        );
        let (observation, mut to) = (observation?, to?);
        let major = observation.server.major;
        let mut from = observation.model.clone();
        let notes = reconcile(&mut to, &from, major, user, &declared.coverage);
        let bench = Bench {
            scratch,
            scope: &declared.scope,
            exclude,
            user: &observation.user,
            roles: &observation.roles,
            deadline,
        };
        if settled || from.differs_in_text(&to) {
            from = bench.settle(&from).await?;
            to = bench.settle(&to).await?;
        }
        let atomic = policy.transaction_mode.is_atomic();
        let statements = bench.statements(&from, &to, &declared.renamed, atomic).await?;
        // No change means the same state, however the server spelled it on either side.
        let to_fingerprint = if statements.is_empty() {
            observation.fingerprint
        } else {
            to.fingerprint(major, declared.scope.schemas())?
        };
        let mut exclude = policy.exclude.clone();
        exclude.sort();
        exclude.dedup();
        let document = document(
            [observation.fingerprint, to_fingerprint],
            exclude,
            observation.scope.clone(),
            policy,
            major,
            notes,
            statements,
        );
        Ok(Computed {
            document,
            observation,
            from,
            to,
        })
    }
}

/// The plan from one declared state to another, proven; the scratch server is all it needs.
///
/// # Errors
/// As [`plan`].
pub async fn diff(
    from: &Path,
    to: &Path,
    scratch: &Scratch,
    policy: &SchemaPolicy,
    deadline: &Deadline,
) -> Result<PlanDocument> {
    let exclude = Selectors::parse(&policy.exclude, None)?;
    let before = Declared::load(&Desired::read(from)?, scratch, "public", &[], deadline).await?;
    let mut after = Declared::load(&Desired::read(to)?, scratch, "public", &[], deadline).await?;
    let both = before
        .scope
        .schemas()
        .iter()
        .chain(after.scope.schemas())
        .cloned()
        .collect();
    let scope = Scope::exactly(both);
    after.scope = scope.clone();
    let before = Declared {
        scope: scope.clone(),
        ..before
    };
    let mut from = before.read(&exclude, "", deadline).await?;
    let mut to = after.read(&exclude, "", deadline).await?;
    let major = scratch.major();
    let notes = reconcile(&mut to, &from, major, "", &after.coverage);
    let bench = Bench {
        scratch,
        scope: &scope,
        exclude: &exclude,
        user: "",
        roles: &[],
        deadline,
    };
    from = bench.settle(&from).await?;
    to = bench.settle(&to).await?;
    let atomic = policy.transaction_mode.is_atomic();
    let statements = bench.statements(&from, &to, &after.renamed, atomic).await?;
    bench.prove(&from, &to, &statements, atomic).await?;
    let (from, to) = (
        from.fingerprint(major, scope.schemas())?,
        to.fingerprint(major, scope.schemas())?,
    );
    Ok(document(
        [from, to],
        policy.exclude.clone(),
        scope.schemas().to_vec(),
        policy,
        major,
        notes,
        statements,
    ))
}

/// The document of a plan that is proven, or is about to be.
fn document(
    [from, to]: [Digest; 2],
    exclude: Vec<String>,
    scope: Vec<String>,
    policy: &SchemaPolicy,
    major: u32,
    notes: Vec<String>,
    statements: Vec<Statement>,
) -> PlanDocument {
    PlanDocument {
        format_version: FORMAT_VERSION,
        name: PlanDocument::default_name(from, to),
        dialect: POSTGRES.to_owned(),
        from_fingerprint: from,
        to_fingerprint: to,
        exclude,
        scope,
        transaction_mode: policy.transaction_mode,
        destructive: statements.iter().any(|s| s.severity == Severity::Destructive),
        notes,
        proof: Proof {
            scratch_server: format!("postgres {major}"),
            replayed: u32::try_from(statements.len()).unwrap_or(u32::MAX),
            residual: 0,
        },
        statements,
    }
}
