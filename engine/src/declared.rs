//! A desired state as the scratch server understands it, and what it leaves unsaid.

use ptah_contract::drift::{DriftReport, Severity};
use ptah_contract::policy::{DriftSeverity, SchemaPolicy};
use std::collections::BTreeSet;
use std::path::Path;

use crate::catalog::{Id, Model, Object, Reading, Selectors, read};
use crate::connect::{Deadline, Session, Target};
use crate::desired::{Desired, load};
use crate::error::{Code, Error, Result};
use crate::observe::{Observation, Scope, whereabouts};
use crate::plan::{Bench, statements};
use crate::scratch::{Database, Scratch};

/// A desired state in a scratch database.
pub(crate) struct Declared {
    pub(crate) database: Database,
    pub(crate) scope: Scope,
}

impl Declared {
    pub(crate) async fn load(
        desired: &Desired,
        scratch: &Scratch,
        own_schema: &str,
        roles: &[String],
        deadline: &Deadline,
    ) -> Result<Self> {
        let database = scratch.database(roles, deadline).await?;
        load(desired, &database, own_schema, deadline).await?;
        let session = database.loader(deadline).await?;
        // `public` is in every new database; it counts as named when it is the URL's own or holds something.
        let rows = session
            .query(
                "SELECT n.nspname::text FROM pg_catalog.pg_namespace n
                 WHERE n.nspname::text !~ '^pg_' AND n.nspname <> 'information_schema' AND (
                   n.nspname <> 'public' OR n.nspname::text = $1
                   OR EXISTS (SELECT FROM pg_catalog.pg_class c WHERE c.relnamespace = n.oid)
                   OR EXISTS (SELECT FROM pg_catalog.pg_type t WHERE t.typnamespace = n.oid)
                   OR EXISTS (SELECT FROM pg_catalog.pg_proc p WHERE p.pronamespace = n.oid))",
                &[&own_schema],
            )
            .await?;
        let mut schemas: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        schemas.push(own_schema.to_owned());
        Ok(Self {
            database,
            scope: Scope::exactly(schemas),
        })
    }

    pub(crate) async fn read(&self, exclude: &Selectors, user: &str, deadline: &Deadline) -> Result<Model> {
        let session = self.database.loader(deadline).await?;
        let model = read(
            &session,
            &Reading {
                scope: self.scope.schemas(),
                exclude,
                user,
            },
        )
        .await?;
        let declares = |id: &Id| match id {
            Id::Schema(name) => name != "public",
            Id::Comment(of) | Id::Privileges(of, _) => !matches!(&**of, Id::Schema(_)),
            _ => true,
        };
        if model.objects.keys().any(declares) {
            Ok(model)
        } else {
            Err(Error::new(
                Code::EmptyDesiredState,
                "the desired state declares no object",
            ))
        }
    }
}

/// Fills in what a declaration does not say by itself: it is as the target has it. Returns notes for people.
///
/// An extension that nobody declares stays. A schema is never dropped. What the server grants and remarks on
/// `public` in every new database is no declaration.
pub(crate) fn reconcile(to: &mut Model, from: &Model, major: u32) -> Vec<String> {
    let mut notes = from.notes.clone();
    for (id, object) in &from.objects {
        if to.objects.contains_key(id) {
            continue;
        }
        match id {
            Id::Extension(name) => {
                notes.push(format!("extension {name} is not declared and is left alone"));
                to.objects.insert(id.clone(), object.clone());
            }
            Id::Schema(_) => {
                to.objects.insert(id.clone(), object.clone());
            }
            _ => {}
        }
    }
    let public = Id::Schema("public".into());
    let mut granted: BTreeSet<String> = BTreeSet::from(["USAGE".into()]);
    if major < 15 {
        granted.insert("CREATE".into());
    }
    let preset = [
        (
            Id::Comment(Box::new(public.clone())),
            Object::Comment {
                text: "standard public schema".into(),
            },
        ),
        (
            Id::Privileges(Box::new(public), String::new()),
            Object::Privileges {
                granted,
                by_default: BTreeSet::new(),
            },
        ),
    ];
    for (id, object) in preset {
        if to.objects.get(&id) == Some(&object) {
            to.objects.remove(&id);
            if let Some(as_found) = from.objects.get(&id) {
                to.objects.insert(id, as_found.clone());
            }
        }
    }
    notes
}

/// The scope of a desired state on this target, so that it can be observed.
///
/// # Errors
/// As loading the desired state.
pub async fn desired_scope(
    target: &Target,
    desired: &Path,
    scratch: &Scratch,
    deadline: &Deadline,
) -> Result<Scope> {
    let desired = Desired::read(desired)?;
    let here = whereabouts(&Session::open(target, deadline).await?).await?;
    Ok(
        Declared::load(&desired, scratch, target.own_schema(), &here.roles, deadline)
            .await?
            .scope,
    )
}

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
    reconcile(&mut to, &from, observation.server.major);
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
            (Some(Object::Index { unique: true, .. }), None) => ("unique_protections_removed", Destructive),
            (_, None) => ("indexes_removed", Warning),
            _ => ("indexes_added", Warning),
        },
        Id::View(_) => pick("views_added", "views_modified", "views_removed", Warning),
        Id::Trigger(..) => pick("triggers_added", "triggers_modified", "triggers_removed", Warning),
        Id::Comment(_) => ("comments_modified", Safe),
        Id::Privileges(..) => ("grants_modified", Warning),
    }
}
