//! Runs the approved bytes.
//!
//! Promises: nothing is sent unless the bytes are the approved ones, the advisory lock is held, the database is in
//! the state that the plan starts from, and the caller's fence has said yes after all that. After a failure it
//! is said whether nothing was committed, and `nothing` is never a guess. Behind a pooler that would break the
//! lock nothing is sent at all.

use std::time::Duration;

use ptah_contract::digest::Digest;
use ptah_contract::failure::Failure;
use ptah_contract::plan_document::PlanDocument;
use ptah_contract::policy::SchemaPolicy;
use tokio::time::Instant;

use crate::catalog::Selectors;
use crate::connect::{Deadline, Session, Target};
use crate::desired::single_statement_kind;
use crate::error::{Code, Error, Result};
use crate::observe::{Scope, look};
use crate::plan::refusals;

/// The reference's lock: FNV-1a of `ptah_schema_apply`, so that both programs exclude each other.
pub const LOCK_KEY: i64 = 1_237_737_229;
const LOCK_POLL: Duration = Duration::from_millis(25);
/// How often a plan that lost a lock or a race is tried again while nothing of it is committed.
const RETRIES: u32 = 3;

/// How it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApplyOutcome {
    /// All statements are committed.
    Applied {
        /// How many there were.
        statements: u32,
    },
    /// The database is as it was.
    NothingCommitted {
        /// Why.
        failure: Failure,
    },
    /// Something may be committed; only a new observation can tell what.
    Uncertain {
        /// Why.
        failure: Failure,
        /// How many statements the server confirmed.
        statements_done: u32,
    },
}

/// Reads a plan as Apply does: digest, encoding, consistency, and exactly one declaration in each statement.
///
/// # Errors
/// `plan_digest_mismatch`, `plan_malformed`.
pub fn read_plan(bytes: &[u8], expected: Digest) -> Result<PlanDocument> {
    if Digest::of(bytes) != expected {
        return Err(Error::new(
            Code::PlanDigestMismatch,
            "the plan's bytes are not those that were approved",
        ));
    }
    let plan =
        PlanDocument::decode(bytes).map_err(|error| Error::new(Code::PlanMalformed, error.to_string()))?;
    for (index, statement) in plan.statements.iter().enumerate() {
        if single_statement_kind(&statement.sql).is_none() {
            let message = format!("statement {} of the plan is not one declaration", index + 1);
            return Err(Error::new(Code::PlanMalformed, message).statement(index + 1));
        }
    }
    Ok(plan)
}

/// Applies a plan document.
///
/// `fence` is called once, under the lock and after the fingerprint was compared, immediately before the first
/// statement; when it fails nothing is sent. `deadline` carries the request to stop as well.
pub async fn apply<F>(
    target: &Target,
    document: &[u8],
    expected: Digest,
    policy: &SchemaPolicy,
    fence: F,
    deadline: &Deadline,
) -> ApplyOutcome
where
    F: AsyncFnOnce() -> std::result::Result<(), Failure>,
{
    let nothing = |error: Error| ApplyOutcome::NothingCommitted {
        failure: error.to_failure(),
    };
    let target = &target
        .clone()
        .with_connect_timeout(policy.connect_timeout.duration());
    let ready = match Ready::prepare(target, document, expected, policy, deadline).await {
        Ok(ready) => ready,
        Err(error) => return nothing(error),
    };
    if ready.plan.statements.is_empty() {
        return ApplyOutcome::Applied { statements: 0 };
    }
    if let Err(failure) = fence().await {
        return ApplyOutcome::NothingCommitted { failure };
    }
    let outcome = if policy.transaction_mode.is_atomic() {
        ready.atomic().await
    } else {
        ready.one_by_one().await
    };
    // The lock ends with the session in any case.
    let _ = ready
        .session
        .finish(&format!("SELECT pg_catalog.pg_advisory_unlock({LOCK_KEY})"))
        .await;
    outcome
}

struct Ready {
    plan: PlanDocument,
    session: Session,
    exclude: Selectors,
}

impl Ready {
    async fn prepare(
        target: &Target,
        document: &[u8],
        expected: Digest,
        policy: &SchemaPolicy,
        deadline: &Deadline,
    ) -> Result<Self> {
        let plan = read_plan(document, expected)?;
        if plan.transaction_mode.is_atomic() != policy.transaction_mode.is_atomic() {
            return Err(Error::new(
                Code::PolicyMismatch,
                "the plan was proven under another transaction mode",
            ));
        }
        if let Some(refusal) = refusals(&plan, policy).first() {
            return Err(refusal.to_error());
        }
        let exclude = Selectors::parse(&plan.exclude, target.pinned_schema())?;
        let session = Session::open(target, deadline).await?;
        let statement_timeout = policy.statement_timeout.map_or(0, |t| t.duration().as_millis());
        let lock_timeout = policy.statement_lock_timeout.duration().as_millis();
        let settings =
            format!("SET lock_timeout TO {lock_timeout}; SET statement_timeout TO {statement_timeout}");
        session.batch("a session setting", &settings).await?;
        take_lock(&session, policy.lock_timeout.duration(), deadline).await?;
        refuse_pooler(target, &session, deadline).await?;
        let ready = Self {
            plan,
            session,
            exclude,
        };
        ready.check_state().await?;
        Ok(ready)
    }

    async fn check_state(&self) -> Result<()> {
        let scope = Scope::exactly(self.plan.scope.clone());
        let found = look(&self.session, &scope, &self.exclude).await?;
        if found.fingerprint == self.plan.from_fingerprint {
            return Ok(());
        }
        Err(Error::new(
            Code::StalePlan,
            "the database is not in the state that the plan starts from",
        ))
    }

    /// The whole plan in one transaction; tried again only after the server confirmed that it was rolled back.
    async fn atomic(&self) -> ApplyOutcome {
        let mut attempt = 0;
        loop {
            let Err(failed) = self.attempt().await else {
                return ApplyOutcome::Applied {
                    statements: self.count(self.plan.statements.len()),
                };
            };
            let error = match failed {
                Failed::AtCommit(error) => {
                    return ApplyOutcome::Uncertain {
                        failure: error.to_failure(),
                        statements_done: self.count(self.plan.statements.len()),
                    };
                }
                Failed::RolledBack { error, again } if again && attempt < RETRIES => error,
                Failed::RolledBack { error, .. } => {
                    return ApplyOutcome::NothingCommitted {
                        failure: error.to_failure(),
                    };
                }
            };
            attempt += 1;
            tokio::time::sleep(Duration::from_millis(200 << attempt)).await;
            if let Err(stale) = self.check_state().await {
                let failure = if stale.kind() == Code::StalePlan {
                    stale
                } else {
                    error
                };
                return ApplyOutcome::NothingCommitted {
                    failure: failure.to_failure(),
                };
            }
        }
    }

    async fn attempt(&self) -> std::result::Result<(), Failed> {
        // Without COMMIT the server keeps nothing, whatever becomes of the connection.
        let back = |error: Error, again: bool| Failed::RolledBack { error, again };
        self.session
            .batch("opening the transaction", "BEGIN")
            .await
            .map_err(|error| back(error, false))?;
        for (index, statement) in self.plan.statements.iter().enumerate() {
            let answer = self.session.execute(&statement.sql).await;
            let error = match answer {
                Ok(Ok(_)) => continue,
                Ok(Err(error)) => {
                    let again = may_try_again(&error);
                    let error = self.explain(index, &error);
                    back(error, again && self.session.finish("ROLLBACK").await.is_ok())
                }
                Err(error) => {
                    let _ = self.session.finish("ROLLBACK").await;
                    back(error.statement(index + 1), false)
                }
            };
            return Err(error);
        }
        match self.session.finish("COMMIT").await {
            Ok(()) => Ok(()),
            // An ERROR at COMMIT, such as a deferred constraint's, means that the server rolled back.
            Err(error) if error.as_db_error().is_some_and(|db| db.severity() == "ERROR") => {
                let again = may_try_again(&error);
                Err(back(
                    Error::from_server(Code::StatementFailed, "the server refused to commit", &error),
                    again,
                ))
            }
            Err(_) => Err(Failed::AtCommit(Error::new(
                Code::OutcomeUnknown,
                "the connection broke while the server was committing",
            ))),
        }
    }

    /// Each statement for itself. Once one was sent, a failure leaves the outcome open.
    async fn one_by_one(&self) -> ApplyOutcome {
        for (index, statement) in self.plan.statements.iter().enumerate() {
            let mut attempt = 0;
            let error = loop {
                match self.session.execute(&statement.sql).await {
                    Ok(Ok(_)) => break None,
                    Ok(Err(error)) => {
                        if index == 0 && statement.transactional && may_try_again(&error) && attempt < RETRIES
                        {
                            attempt += 1;
                            tokio::time::sleep(Duration::from_millis(200 << attempt)).await;
                            continue;
                        }
                        break Some(self.explain(index, &error));
                    }
                    Err(error) => break Some(error.statement(index + 1)),
                }
            };
            if let Some(error) = error {
                return ApplyOutcome::Uncertain {
                    failure: error.to_failure(),
                    statements_done: self.count(index),
                };
            }
        }
        ApplyOutcome::Applied {
            statements: self.count(self.plan.statements.len()),
        }
    }

    fn explain(&self, index: usize, error: &tokio_postgres::Error) -> Error {
        let what = format!("statement {} of {} failed", index + 1, self.plan.statements.len());
        let error = Error::from_server(Code::StatementFailed, &what, error).statement(index + 1);
        match self.plan.statements.get(index).and_then(|s| s.objects.first()) {
            Some(object) if error.to_failure().object.is_none() => error.about(object.clone()),
            _ => error,
        }
    }

    fn count(&self, statements: usize) -> u32 {
        u32::try_from(statements).unwrap_or(u32::MAX)
    }
}

enum Failed {
    /// Nothing is committed; `again` when that was confirmed and the cause passes by itself.
    RolledBack {
        error: Error,
        again: bool,
    },
    AtCommit(Error),
}

/// A lock not to be had, a deadlock, a serialization failure.
fn may_try_again(error: &tokio_postgres::Error) -> bool {
    matches!(error.code().map(|c| c.code()), Some("55P03" | "40P01" | "40001"))
}

/// Polled, never waited for: a waiting statement would hold a snapshot that a concurrent index build waits for.
async fn take_lock(session: &Session, patience: Duration, deadline: &Deadline) -> Result<()> {
    let until = Instant::now() + patience;
    loop {
        if session
            .one("SELECT pg_catalog.pg_try_advisory_lock($1)", &[&LOCK_KEY])
            .await?
            .get(0)
        {
            return Ok(());
        }
        if Instant::now() >= until {
            return Err(Error::new(
                Code::LockTimeout,
                "another run holds the database's advisory lock",
            ));
        }
        deadline.check()?;
        tokio::time::sleep(LOCK_POLL).await;
    }
}

/// A second connection tries the same lock: when that succeeds as well, both talk to one server session, and the
/// lock protects nothing.
async fn refuse_pooler(target: &Target, session: &Session, deadline: &Deadline) -> Result<()> {
    let refused = || {
        Err(Error::new(
            Code::TransactionPooler,
            "a pooler hands each transaction to another server session; name the database's own address",
        ))
    };
    const WHO: &str = "SELECT pg_catalog.pg_backend_pid(), pg_catalog.current_setting('application_name')";
    let first: i32 = session.one(WHO, &[]).await?.get(0);
    let other = Session::open(target, deadline).await?;
    let taken: bool = other
        .one("SELECT pg_catalog.pg_try_advisory_lock($1)", &[&LOCK_KEY])
        .await?
        .get(0);
    let second: i32 = other.one(WHO, &[]).await?.get(0);
    let again = session.one(WHO, &[]).await?;
    if taken || second == first || again.get::<_, i32>(0) != first || again.get::<_, &str>(1) != "ptah" {
        return refused();
    }
    Ok(())
}
