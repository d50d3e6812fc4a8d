//! `-- ptah:renamed-from <old name>`: a declaration of what an object was called, in a comment line directly above it.
//!
//! Promises: a comment that stands above nothing that can have another name, or that names more than one name, is
//! refused with its place; none is ignored.

use squawk_syntax::ast::{AstNode as _, Stmt};
use squawk_syntax::{SyntaxKind, SyntaxNode, SyntaxToken};

use super::admission::{line_of, unquote};
use crate::error::{Code, Error, Result};

/// How the comment begins.
const MARK: &str = "ptah:renamed-from";

/// What had another name, as the file says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renamed {
    /// File and line of the comment.
    pub place: String,
    /// The word of the statement: `TABLE`, `VIEW`, …
    pub(crate) kind: Kind,
    /// As the statement names the object.
    pub(crate) schema: Option<String>,
    /// The object's name.
    pub(crate) name: String,
    /// The column or constraint that had another name, when it is not the object itself.
    pub(crate) part: Option<Part>,
    /// The old name.
    pub(crate) old: String,
}

/// What kind of statement makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Table,
    View,
    MaterializedView,
    Index,
    Type,
    Sequence,
    Routine,
}

/// A part of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Column(String),
    Constraint(String),
}

/// The renames that a statement's comments declare.
///
/// # Errors
/// `desired_syntax`, naming file and line.
pub(super) fn renames(
    file: &str,
    text: &str,
    statement: &Stmt,
    comments: &[SyntaxToken],
) -> Result<Vec<Renamed>> {
    let mut found = Vec::new();
    for comment in comments {
        let Some(next) = following(comment) else { continue };
        if !statement.syntax().text_range().contains_range(next.text_range()) {
            continue;
        }
        let line = line_of(text, usize::from(comment.text_range().start()));
        let place = format!("{file}:{line}");
        let refused = |why: &str| {
            Error::new(Code::DesiredSyntax, format!("{place}: ptah:renamed-from {why}")).about(place.clone())
        };
        let old = old_name(comment).ok_or_else(|| refused("wants exactly one name, without its schema"))?;
        let (kind, schema, name) =
            subject(statement).ok_or_else(|| refused("stands above a statement that gives no name"))?;
        let part = part(statement, &next).map_err(|()| {
            refused("stands above nothing that can have had another name: a statement, a column or a named constraint")
        })?;
        if part.is_some() && kind != Kind::Table {
            return Err(refused("of a part is understood in CREATE TABLE only"));
        }
        found.push(Renamed {
            place,
            kind,
            schema,
            name,
            part,
            old,
        });
    }
    Ok(found)
}

/// The comments of a file that declare a rename.
pub(super) fn marks(root: &SyntaxNode) -> Vec<SyntaxToken> {
    root.descendants_with_tokens()
        .filter_map(|element| element.into_token())
        .filter(|token| token.kind() == SyntaxKind::COMMENT)
        .filter(|token| marked(token.text()).is_some())
        .collect()
}

/// A comment that stands above nothing at all.
pub(super) fn dangling(file: &str, text: &str, comments: &[SyntaxToken]) -> Result<()> {
    match comments.iter().find(|comment| following(comment).is_none()) {
        None => Ok(()),
        Some(comment) => {
            let line = line_of(text, usize::from(comment.text_range().start()));
            let place = format!("{file}:{line}");
            let message = format!("{place}: ptah:renamed-from stands above nothing on the next line");
            Err(Error::new(Code::DesiredSyntax, message).about(place))
        }
    }
}

fn marked(comment: &str) -> Option<&str> {
    comment.strip_prefix("--")?.trim_start().strip_prefix(MARK)
}

/// The one name after the mark.
fn old_name(comment: &SyntaxToken) -> Option<String> {
    let rest = marked(comment.text())?.trim();
    let inner = rest.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let one = match inner {
        Some(inner) => !inner.is_empty() && !inner.replace("\"\"", "").contains('"'),
        None => !rest.is_empty() && rest.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$'),
    };
    one.then(|| unquote(rest))
}

/// The first word of the line below the comment, other such comments apart.
fn following(comment: &SyntaxToken) -> Option<SyntaxToken> {
    let mut token = comment.next_token()?;
    let mut breaks = 0;
    loop {
        match token.kind() {
            SyntaxKind::WHITESPACE => breaks += token.text().matches('\n').count(),
            SyntaxKind::COMMENT if marked(token.text()).is_some() => breaks = 0,
            SyntaxKind::COMMENT => return None,
            _ => return (breaks == 1).then_some(token),
        }
        token = token.next_token()?;
    }
}

/// What a statement makes, and how it calls it.
fn subject(statement: &Stmt) -> Option<(Kind, Option<String>, String)> {
    let (kind, after) = match statement {
        Stmt::CreateTable(_) => (Kind::Table, "table"),
        Stmt::CreateView(_) => (Kind::View, "view"),
        Stmt::CreateMaterializedView(_) => (Kind::MaterializedView, "view"),
        Stmt::CreateIndex(_) => (Kind::Index, "index"),
        Stmt::CreateType(_) => (Kind::Type, "type"),
        Stmt::CreateDomain(_) => (Kind::Type, "domain"),
        Stmt::CreateSequence(_) => (Kind::Sequence, "sequence"),
        Stmt::CreateFunction(_) => (Kind::Routine, "function"),
        Stmt::CreateProcedure(_) => (Kind::Routine, "procedure"),
        Stmt::CreateAggregate(_) => (Kind::Routine, "aggregate"),
        _ => return None,
    };
    let words: Vec<String> = super::admission::words(statement.syntax())
        .take(16)
        .map(|token| token.text().to_owned())
        .collect();
    let is = |at: usize, word: &str| words.get(at).is_some_and(|w| w.eq_ignore_ascii_case(word));
    let mut at = 1 + words.iter().position(|word| word.eq_ignore_ascii_case(after))?;
    if is(at, "concurrently") {
        at += 1;
    }
    if is(at, "if") {
        at += 3;
    }
    let first = unquote(words.get(at)?);
    if is(at + 1, ".") {
        Some((kind, Some(first), unquote(words.get(at + 2)?)))
    } else {
        Some((kind, None, first))
    }
}

/// The part of the statement that begins with this word; none when that is the statement itself.
fn part(statement: &Stmt, first: &SyntaxToken) -> std::result::Result<Option<Part>, ()> {
    let begins = |node: &SyntaxNode| super::admission::words(node).next().as_ref() == Some(first);
    if begins(statement.syntax()) {
        return Ok(None);
    }
    if first.text().eq_ignore_ascii_case("constraint") {
        let mut token = first.next_token();
        while let Some(next) = token {
            if !matches!(next.kind(), SyntaxKind::WHITESPACE | SyntaxKind::COMMENT) {
                return Ok(Some(Part::Constraint(unquote(next.text()))));
            }
            token = next.next_token();
        }
        return Err(());
    }
    let column = first
        .parent_ancestors()
        .any(|node| node.kind() == SyntaxKind::COLUMN && begins(&node));
    if column {
        Ok(Some(Part::Column(unquote(first.text()))))
    } else {
        Err(())
    }
}
