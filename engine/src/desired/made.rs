//! Statements that were made from documents: how they are admitted, and where an error about one stands.

use squawk_syntax::ast::{SourceFile, Stmt};

use super::admission::{Statement, clip, declares, kind_name};
use super::formats::Rendered;
use super::{Desired, room};
use crate::error::Result;

impl Statement {
    /// The line of the file that is so many lines below the statement's first.
    pub(super) fn line_below(&self, lines: usize) -> usize {
        match &self.made_from {
            None => self.line + lines,
            Some((_, places)) => places.get(lines).copied().unwrap_or(self.line),
        }
    }

    /// What to call it in an error about its file.
    pub(super) fn shown(&self) -> String {
        match &self.made_from {
            None => format!("statement {}", self.position),
            Some((block, _)) => clip(block),
        }
    }
}

/// Admits statements that were made from documents. Each is exactly one declaration of its kind, or an error of its
/// block: what a document says cannot become another statement.
pub(super) fn admit(rendered: Vec<Rendered>, desired: &mut Desired) -> Result<()> {
    for (index, made) in rendered.into_iter().enumerate() {
        if made.sql.contains('\0') {
            return Err(made.at.malformed("a NUL character stands in it"));
        }
        let whole = || {
            if room::too_long(&made.sql).is_some() {
                return None;
            }
            let parsed = SourceFile::parse(&made.sql);
            let mut statements = parsed.tree().stmts();
            let (Some(statement), None) = (statements.next(), statements.next()) else {
                return None;
            };
            let wanted = made.kind.replace(" UNIQUE", "");
            (parsed.errors().is_empty() && kind_name(&statement) == wanted && declares(&statement))
                .then_some(matches!(statement, Stmt::CreateSchema(_)))
        };
        let Some(creates_schema) = whole() else {
            return Err(made
                .at
                .malformed(format!("this makes no {} that parses", made.kind)));
        };
        desired.statements.push(Statement {
            file: made.at.file().to_owned(),
            line: made.at.line,
            position: index + 1,
            sql: made.sql,
            creates_schema,
            settings: vec![],
            renames: vec![],
            by_owner: None,
            made_from: Some((made.at.block_name().to_owned(), made.lines)),
        });
    }
    Ok(())
}
