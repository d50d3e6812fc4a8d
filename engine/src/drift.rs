//! What differs between an observed database and a desired state, in numbers.

use std::collections::BTreeSet;
use std::path::Path;

use ptah_contract::drift::{DriftReport, Severity};
use ptah_contract::policy::{DriftSeverity, SchemaPolicy};

use crate::catalog::{Id, Index, Model, Object, Selectors};
use crate::connect::{Deadline, Target};
use crate::declared::Declared;
use crate::desired::Desired;
use crate::error::{Code, Error, Result};
use crate::observe::{Observation, Scope};
use crate::plan::{Bench, statements};
use crate::reconcile::reconcile;
use crate::scratch::Scratch;

/// What differs between an observed database and a desired state, in numbers. Reads only the scratch server.
///
/// # Errors
/// `scope_mismatch` when the desired state names a schema that was not observed; as loading it.
pub async fn drift(
    observation: &Observation,
    target: &Target,
    desired: &Path,
    scratch: &Scratch,
    policy: &SchemaPolicy,
    deadline: &Deadline,
) -> Result<DriftReport> {
    let desired = Desired::read(desired)?;
    let declared = Declared::load(
        &desired,
        scratch,
        target.own_schema(),
        &observation.roles,
        deadline,
    )
    .await?;
    if let Some(schema) = declared
        .scope
        .schemas()
        .iter()
        .find(|s| !observation.scope.contains(s))
    {
        let message = format!("the desired state names schema {schema}, which was not observed");
        return Err(Error::new(Code::ScopeMismatch, message).about(schema.clone()));
    }
    let exclude = Selectors::parse(&policy.exclude, target.pinned_schema())?;
    let mut to = declared.read(&exclude, &observation.user, deadline).await?;
    let mut from = observation.model.clone();
    reconcile(
        &mut to,
        &from,
        observation.server.major,
        &observation.user,
        &declared.coverage,
    );
    if from.differs_in_text(&to) {
        let bench = Bench {
            scratch,
            scope: &Scope::exactly(observation.scope.clone()),
            exclude: &exclude,
            user: &observation.user,
            roles: &observation.roles,
            deadline,
        };
        from = bench.settle(&from).await?;
        to = bench.settle(&to).await?;
    }
    report(&from, &to, observation.server.major, policy)
}

fn report(from: &Model, to: &Model, major: u32, policy: &SchemaPolicy) -> Result<DriftReport> {
    let mut details: Vec<(String, &'static str, Severity)> = Vec::new();
    let ids: BTreeSet<&Id> = from.objects.keys().chain(to.objects.keys()).collect();
    for id in ids {
        let (old, new) = (from.objects.get(id), to.objects.get(id));
        if old == new || new_table_covers(id, from, to) {
            continue;
        }
        let (category, severity) = category(id, old, new);
        if policy.drift_severity == DriftSeverity::All || severity == Severity::Destructive {
            details.push((id.describe(), category, severity));
        }
    }
    // The digest stands for the whole difference: the statements that end it, where there are any.
    let sql: Vec<String> = statements(from, to, major, true)
        .map(|s| s.into_iter().map(|s| s.sql).collect())
        .unwrap_or_default();
    let digest = ptah_contract::canonical::digest(&(
        details
            .iter()
            .map(|(name, category, severity)| (name, category, severity.word()))
            .collect::<Vec<_>>(),
        sql,
    ))
    .map_err(|_| Error::internal("a drift report has no JSON"))?;
    Ok(DriftReport::count(
        digest,
        "postgres",
        details
            .iter()
            .map(|(_, category, severity)| (*category, *severity)),
    ))
}

/// The parts of a table that comes or goes are not counted beside it.
fn new_table_covers(id: &Id, from: &Model, to: &Model) -> bool {
    let table = id.table(from).or_else(|| id.table(to)).cloned().map(Id::Table);
    table.is_some_and(|t| t != *id && from.objects.contains_key(&t) != to.objects.contains_key(&t))
}

/// The reference's words where it has one, ours beside them.
fn category(id: &Id, old: Option<&Object>, new: Option<&Object>) -> (&'static str, Severity) {
    use Severity::{Destructive, Safe, Warning};
    let pick =
        |added: &'static str, modified: &'static str, removed: &'static str, on_change: Severity| match (
            old, new,
        ) {
            (None, _) => (added, Safe),
            (_, None) => (removed, Destructive),
            _ => (modified, on_change),
        };
    match id {
        Id::Schema(_) => pick("schemas_added", "schemas_modified", "schemas_removed", Warning),
        Id::Extension(_) => pick(
            "extensions_added",
            "extensions_modified",
            "extensions_removed",
            Warning,
        ),
        Id::Enum(_) => match (old, new) {
            (Some(Object::Enum { labels: a }), Some(Object::Enum { labels: b })) => {
                if a.iter().all(|l| b.contains(l)) {
                    ("enum_values_added", Warning)
                } else {
                    ("enum_values_removed", Destructive)
                }
            }
            _ => pick("enums_added", "enum_values_added", "enums_removed", Warning),
        },
        Id::Sequence(_) | Id::SequenceOwner(_) => pick(
            "sequences_added",
            "sequences_modified",
            "sequences_removed",
            Warning,
        ),
        Id::Function(..) => pick(
            "functions_added",
            "functions_modified",
            "functions_removed",
            Warning,
        ),
        Id::Table(_) if row_security(old) != row_security(new) && old.is_some() && new.is_some() => {
            if row_security(old) > row_security(new) {
                ("rls_enabled_tables_removed", Destructive)
            } else {
                ("rls_enabled_tables_added", Safe)
            }
        }
        Id::Table(_) => pick("tables_added", "tables_modified", "tables_removed", Warning),
        Id::Column(..) => match (old, new) {
            (None, _) => ("columns_added", Warning),
            (_, None) => ("columns_removed", Destructive),
            _ => ("columns_modified", Warning),
        },
        Id::Default(..) => ("columns_modified", Warning),
        Id::Constraint(..) => match (old, new) {
            (Some(Object::Constraint(c)), None) if c.class == "u" || c.class == "p" => {
                ("unique_protections_removed", Destructive)
            }
            (_, None) => ("constraints_removed", Destructive),
            _ => ("constraints_added", Warning),
        },
        Id::Index(_) => match (old, new) {
            (Some(Object::Index(Index { unique: true, .. })), None) => {
                ("unique_protections_removed", Destructive)
            }
            (_, None) => ("indexes_removed", Warning),
            _ => ("indexes_added", Warning),
        },
        Id::View(_) => pick("views_added", "views_modified", "views_removed", Warning),
        Id::MaterializedView(_) => pick(
            "materialized_views_added",
            "materialized_views_modified",
            "materialized_views_removed",
            Warning,
        ),
        Id::Collation(_) => pick(
            "collations_added",
            "collations_modified",
            "collations_removed",
            Warning,
        ),
        Id::Domain(_) => pick("domains_added", "domains_modified", "domains_removed", Warning),
        Id::DomainConstraint(..) => match new {
            None => ("constraints_removed", Destructive),
            Some(_) => ("constraints_added", Warning),
        },
        Id::Composite(_) => pick(
            "composite_types_added",
            "composite_types_modified",
            "composite_types_removed",
            Warning,
        ),
        Id::Range(_) => pick("ranges_added", "ranges_modified", "ranges_removed", Warning),
        Id::Partition(_) | Id::Inherits(..) => pick(
            "partitions_added",
            "partitions_modified",
            "partitions_removed",
            Warning,
        ),
        Id::ReplicaIdentity(_) | Id::Cluster(_) => ("tables_modified", Warning),
        Id::Statistics(_) => pick(
            "statistics_added",
            "statistics_modified",
            "statistics_removed",
            Warning,
        ),
        Id::Rule(..) => pick("rules_added", "rules_modified", "rules_removed", Warning),
        Id::Trigger(..) => pick("triggers_added", "triggers_modified", "triggers_removed", Warning),
        Id::Policy(..) => pick(
            "rls_policies_added",
            "rls_policies_modified",
            "rls_policies_removed",
            Warning,
        ),
        Id::Comment(_) => ("comments_modified", Safe),
        Id::Owner(_) => ("owners_modified", Warning),
        Id::Privileges(..) => ("grants_modified", Warning),
        Id::DefaultPrivileges(_) => ("default_privileges_modified", Warning),
    }
}

/// Whether policies apply to a table, and to its owner.
fn row_security(object: Option<&Object>) -> (bool, bool) {
    match object {
        Some(Object::Table(table)) => (table.row_security, table.force_row_security),
        _ => (false, false),
    }
}
