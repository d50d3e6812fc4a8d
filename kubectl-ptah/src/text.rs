//! A plan for people: what will run, in which order, and what each statement costs.
//!
//! Promises: every statement is shown whole, and no character of it can move the cursor, hide text or change its
//! direction.

use std::fmt::{self, Write as _};

use kube::ResourceExt as _;
use ptah_api::Phase;
use ptah_contract::plan_document::{PlanDocument, Statement};
use ptah_contract::policy::TransactionMode;

use crate::plan::{Loaded, Selection};

/// The whole page.
#[must_use]
pub fn page(loaded: &Loaded) -> String {
    let mut page = String::new();
    // Writing to a string cannot fail.
    let _ = write_page(&mut page, loaded);
    visible(&page)
}

/// The statements as a script.
#[must_use]
pub fn sql(document: &PlanDocument) -> String {
    document
        .statements
        .iter()
        .map(|statement| terminated(&statement.sql))
        .collect()
}

/// A statement with its semicolon. A comment at its end would swallow one on the same line.
fn terminated(sql: &str) -> String {
    let sql = sql.trim_end();
    let comment = sql.lines().next_back().is_some_and(|line| line.contains("--"));
    format!("{sql}{};\n", if comment { "\n" } else { "" })
}

fn write_page(page: &mut String, loaded: &Loaded) -> fmt::Result {
    let Loaded {
        schema,
        plan,
        document,
        selection,
        ..
    } = loaded;
    let binding = &plan.spec.binding;
    let namespace = schema.namespace().unwrap_or_default();
    writeln!(
        page,
        "Plan {} of ptahschema {namespace}/{}",
        plan.name_any(),
        schema.name_any()
    )?;
    writeln!(page, "  fingerprint   {}", plan.spec.fingerprint)?;
    writeln!(page, "  state         {}", state(loaded))?;
    writeln!(
        page,
        "  source        {}, content {}",
        plan.spec.recorded.source, binding.content_digest
    )?;
    writeln!(page, "  transactions  {}", mode(document.transaction_mode))?;
    writeln!(
        page,
        "  proven on     {}, {} replayed",
        document.proof.scratch_server, document.proof.replayed
    )?;
    writeln!(
        page,
        "  destructive   {}",
        if document.destructive { "YES" } else { "no" }
    )?;
    let privileges = match binding.privilege_changes.as_slice() {
        [] => "none".to_owned(),
        kinds => kinds.join(", "),
    };
    writeln!(page, "  privileges    {privileges}")?;
    for note in &document.notes {
        writeln!(page, "  note          {note}")?;
    }
    let count = document.statements.len();
    for (index, statement) in document.statements.iter().enumerate() {
        write_statement(page, index + 1, count, statement)?;
    }
    let waits = schema
        .status
        .as_ref()
        .is_some_and(|status| status.phase == Some(Phase::AwaitingApproval));
    if *selection == Selection::Current && waits {
        writeln!(
            page,
            "\nTo approve exactly this plan, create a PtahSchemaApproval whose spec names"
        )?;
        writeln!(
            page,
            "  schemaRef:       {{name: {}, uid: {}}}",
            schema.name_any(),
            binding.resource_uid
        )?;
        writeln!(
            page,
            "  planRef:         {{name: {}, uid: {}}}",
            plan.name_any(),
            plan.uid().unwrap_or_default()
        )?;
        writeln!(page, "  planFingerprint: {}", plan.spec.fingerprint)?;
    }
    Ok(())
}

fn write_statement(page: &mut String, number: usize, count: usize, statement: &Statement) -> fmt::Result {
    let lock = statement
        .lock
        .as_deref()
        .map_or("no table lock".to_owned(), |lock| format!("lock {lock}"));
    writeln!(
        page,
        "\n[{number}/{count}] {}, {lock}{}",
        statement.severity.word(),
        costs(statement)
    )?;
    writeln!(page, "  {}", statement.reason)?;
    if !statement.privileges.is_empty() {
        let kinds: Vec<_> = statement
            .privileges
            .iter()
            .map(|kind| format!("{kind:?}"))
            .collect();
        writeln!(page, "  changes privileges: {}", kinds.join(", "))?;
    }
    for line in terminated(&statement.sql).lines() {
        writeln!(page, "      {line}")?;
    }
    Ok(())
}

fn costs(statement: &Statement) -> String {
    let reads = match (statement.rewrites, statement.scans) {
        (true, _) => "rewrites the table",
        (false, true) => "scans the table",
        (false, false) => "no rewrite, no scan",
    };
    let costs = [
        (true, reads),
        (statement.data_dependent, "rows may make it fail"),
        (!statement.transactional, "outside a transaction"),
    ];
    costs
        .iter()
        .filter(|(is, _)| *is)
        .map(|(_, words)| format!(", {words}"))
        .collect()
}

fn state(loaded: &Loaded) -> String {
    let status = loaded.schema.status.clone().unwrap_or_default();
    match (loaded.selection, status.plan, status.applied) {
        (Selection::Applied, _, Some(applied)) => format!("applied, proven at {}", applied.completed_at.0),
        (_, Some(plan), _) => match plan.approval {
            Some(approval) => format!(
                "approved by {} at {}",
                approval.approver.username, approval.approved_at.0
            ),
            None if status.phase == Some(Phase::AwaitingApproval) => "waits for an approval".to_owned(),
            None => format!("current, schema in phase {:?}", status.phase.unwrap_or_default()),
        },
        _ => String::new(),
    }
}

fn mode(mode: TransactionMode) -> &'static str {
    match mode {
        TransactionMode::All | TransactionMode::File => "one for the whole plan: it runs whole or not at all",
        TransactionMode::None => "none: each statement is committed on its own",
    }
}

/// Makes visible what could deceive a reader: control characters, and characters that change the direction of text
/// or take no room. Line ends and tabs stay.
#[must_use]
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let hidden = matches!(c,
            '\u{061c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
        if (c.is_control() && !matches!(c, '\n' | '\t')) || hidden {
            let _ = write!(out, "\\u{{{:04x}}}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    out
}
