//! Plans for people.

use std::fmt::Write as _;

use ptah_contract::drift::Severity;
use ptah_contract::plan_document::{PlanDocument, Statement};

/// The statements alone, each with what it does above it.
pub(crate) fn sql(plan: &PlanDocument) -> String {
    let mut text = String::new();
    for statement in &plan.statements {
        // A line feed in a name must not end the comment.
        let reason = statement.reason.replace(['\n', '\r'], " ");
        let _ = writeln!(
            text,
            "-- {}: {reason}\n{};",
            statement.severity.word(),
            statement.sql
        );
    }
    text
}

/// The whole plan, with locks and what may fail.
pub(crate) fn plan(plan: &PlanDocument) -> String {
    let mut text = String::new();
    if plan.statements.is_empty() {
        text.push_str("No changes: the database has the desired state.\n");
    }
    for (index, statement) in plan.statements.iter().enumerate() {
        let _ = writeln!(text, "{:>3}. {}", index + 1, marks(statement));
        let _ = writeln!(text, "     {}", statement.reason.replace(['\n', '\r'], " "));
        for line in format!("{};", statement.sql).lines() {
            let _ = writeln!(text, "     | {line}");
        }
        text.push('\n');
    }
    for note in &plan.notes {
        let _ = writeln!(text, "note: {note}");
    }
    if !plan.statements.is_empty() {
        let _ = writeln!(text, "{}", summary(plan));
    }
    text
}

fn marks(statement: &Statement) -> String {
    let mut marks = vec![statement.severity.word().to_uppercase()];
    marks.push(
        statement
            .lock
            .as_ref()
            .map_or("no table lock".into(), |lock| format!("lock {lock}")),
    );
    marks.push(match (statement.rewrites, statement.scans) {
        (true, _) => "rewrites the table".into(),
        (false, true) => "scans the table".into(),
        (false, false) => "no rewrite, no scan".into(),
    });
    if statement.data_dependent {
        marks.push("rows may make it fail".into());
    }
    if !statement.transactional {
        marks.push("runs outside a transaction".into());
    }
    marks.extend(
        statement
            .privileges
            .iter()
            .map(|kind| format!("changes privileges ({kind:?})")),
    );
    marks.join(", ")
}

fn summary(plan: &PlanDocument) -> String {
    let count = |severity: Severity| plan.statements.iter().filter(|s| s.severity == severity).count();
    let mode = if plan.transaction_mode.is_atomic() {
        "in one transaction"
    } else {
        "each on its own"
    };
    format!(
        "{} {mode}: {} destructive, {} warning. Replayed on {}, no difference left.",
        match plan.statements.len() {
            1 => "1 statement".to_owned(),
            n => format!("{n} statements"),
        },
        count(Severity::Destructive),
        count(Severity::Warning),
        plan.proof.scratch_server,
    )
}
