//! Which statements declare something, told by a parser and never by a pattern.
//!
//! Promises: what is not on the list is refused by name. What `pg_dump` writes around its statements is
//! accepted; of its settings only `search_path` and `check_function_bodies` change how a file loads, and both
//! end with the file.

use squawk_syntax::ast::{AstNode as _, SourceFile, Stmt};
use squawk_syntax::{SyntaxKind, SyntaxNode};

use super::rename::{self, Renamed};
use super::{Desired, room};
use crate::error::{Code, Error, Result};

/// One admitted statement and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The file.
    pub file: String,
    /// 1-based, of its first word.
    pub line: usize,
    /// 1-based within the file.
    pub position: usize,
    /// Without the semicolon.
    pub sql: String,
    /// Whether it makes a schema: those run first, since nothing in a schema can be made before it.
    pub creates_schema: bool,
    /// Settings of the same file that stand before it.
    pub settings: Vec<String>,
    /// What it makes had another name.
    pub renames: Vec<Renamed>,
    /// It gives an object to this role, or remarks on an extension (no role), and does nothing else: what only the owner
    /// of everything can do.
    pub by_owner: Option<Option<String>>,
    /// For a statement that was made from a document: the block that it comes from, and the document's line of each
    /// of its own lines.
    pub made_from: Option<(String, Vec<usize>)>,
}

/// An extension that a file asks for; the engine creates it, never the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Extension {
    pub(crate) name: String,
    pub(crate) schema: Option<String>,
    pub(crate) place: String,
}

enum Verdict {
    Declares,
    Setting(String),
    Ignored,
    Extension(Extension),
}

pub(super) fn admit(file: &str, text: &str, desired: &mut Desired) -> Result<()> {
    let text = &without_restrict(text);
    if let Some(at) = room::too_long(text) {
        let place = format!("{file}:{}", line_of(text, at));
        let message = format!("{place} does not parse: what begins here is too long or nested too deeply");
        return Err(Error::new(Code::DesiredSyntax, message).about(place));
    }
    room::with_room(|| judge_all(file, text, desired))
        .unwrap_or_else(|| Err(Error::internal("the parser did not come to an end")))
}

fn judge_all(file: &str, text: &str, desired: &mut Desired) -> Result<()> {
    let parsed = SourceFile::parse(text);
    if let Some(error) = parsed.errors().first() {
        let line = line_of(text, usize::from(error.range().start()));
        let message = format!("{file}:{line} does not parse: {}", clip(error.message()));
        return Err(Error::new(Code::DesiredSyntax, message).about(format!("{file}:{line}")));
    }
    let marks = rename::marks(parsed.tree().syntax());
    rename::dangling(file, text, &marks)?;
    let mut renamed = 0;
    let mut settings: Vec<String> = Vec::new();
    for (index, statement) in parsed.tree().stmts().enumerate() {
        let node = statement.syntax();
        let Some(first) = words(node).next() else { continue };
        let line = line_of(text, usize::from(first.text_range().start()));
        let place = format!("{file}:{line}");
        let renames = rename::renames(file, text, &statement, &marks)?;
        renamed += renames.len();
        match judge(&statement, &place)? {
            Verdict::Ignored => {}
            Verdict::Setting(sql) => settings.push(sql),
            Verdict::Extension(extension) => desired.extensions.push(extension),
            Verdict::Declares => desired.statements.push(Statement {
                file: file.to_owned(),
                line,
                position: index + 1,
                sql: sql_of(text, node, usize::from(first.text_range().start())),
                creates_schema: matches!(statement, Stmt::CreateSchema(_)),
                settings: settings.clone(),
                renames,
                by_owner: by_owner(&statement),
                made_from: None,
            }),
        }
    }
    if renamed < marks.len() {
        let message = format!("{file}: a ptah:renamed-from comment stands above no statement");
        return Err(Error::new(Code::DesiredSyntax, message).about(file));
    }
    Ok(())
}

/// The role of `ALTER … OWNER TO role` when that is all, or none of `COMMENT ON EXTENSION`.
fn by_owner(statement: &Stmt) -> Option<Option<String>> {
    let words: Vec<String> = words(statement.syntax())
        .map(|token| token.text().to_owned())
        .filter(|word| word != ";")
        .collect();
    let is = |at: usize, word: &str| words.get(at).is_some_and(|w| w.eq_ignore_ascii_case(word));
    if is(0, "comment") && is(1, "on") && is(2, "extension") {
        return Some(None);
    }
    let end = words.len().checked_sub(3)?;
    if !(is(0, "alter") && is(end, "owner") && is(end + 1, "to")) {
        return None;
    }
    let mut depth = 0;
    let alone = words.iter().all(|word| {
        match word.as_str() {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        word != "," || depth > 0
    });
    let role = words.last()?;
    // Whoever loads is meant, who is its owner already.
    let me = ["current_user", "current_role", "session_user"];
    let named = !me.iter().any(|word| role.eq_ignore_ascii_case(word));
    (alone && named).then(|| Some(unquote(role)))
}

/// The kind of the one statement in a text, such as `CREATE TABLE`; none when it is not exactly one.
pub(crate) fn single_statement_kind(sql: &str) -> Option<String> {
    if room::too_long(sql).is_some() {
        return None;
    }
    room::with_room(|| single_kind(sql)).flatten()
}

fn single_kind(sql: &str) -> Option<String> {
    let parsed = SourceFile::parse(sql);
    let mut kinds = parsed
        .tree()
        .stmts()
        .filter(|statement| words(statement.syntax()).next().is_some())
        .map(|statement| {
            (
                kind_name(&statement),
                declares(&statement) || matches!(statement, Stmt::CreateExtension(_)),
            )
        });
    match (kinds.next(), kinds.next()) {
        (Some((name, true)), None) => Some(name),
        _ => None,
    }
}

/// Name and schema of the extension that a statement makes, when that is what it does.
pub(crate) fn extension_of(sql: &str) -> Option<(String, String)> {
    if !sql.starts_with("CREATE EXTENSION ") {
        return None;
    }
    let parsed = SourceFile::parse(sql);
    let statement = parsed.tree().stmts().next()?;
    let words: Vec<String> = words(statement.syntax())
        .map(|token| token.text().to_owned())
        .collect();
    let made = extension(&words, "")?;
    Some((made.name, made.schema?))
}

fn judge(statement: &Stmt, place: &str) -> Result<Verdict> {
    if declares(statement) {
        return Ok(Verdict::Declares);
    }
    let words: Vec<String> = words(statement.syntax())
        .map(|token| token.text().to_owned())
        .collect();
    let refused = |why: &str| {
        let kind = kind_name(statement);
        Error::new(
            Code::StatementNotAdmitted,
            format!("{place}: {kind} is not admitted: {why}"),
        )
        .about(place)
    };
    match statement {
        Stmt::CreateExtension(_) => extension(&words, place).map(Verdict::Extension).ok_or_else(|| {
            refused("only CREATE EXTENSION [IF NOT EXISTS] name [WITH] [SCHEMA schema] is understood")
        }),
        Stmt::EmptyStmt(_) | Stmt::SetSessionAuth(_) | Stmt::ResetSessionAuth(_) => Ok(Verdict::Ignored),
        Stmt::Set(_) => {
            let at = 1 + usize::from(words.get(1).is_some_and(|w| w.eq_ignore_ascii_case("session")));
            let name = words.get(at).map(|w| w.to_ascii_lowercase()).unwrap_or_default();
            setting(&name, || sql_words(&words))
                .ok_or_else(|| refused("this setting is not one that pg_dump writes"))
        }
        Stmt::Select(_) => {
            let lower: Vec<String> = words
                .iter()
                .filter(|w| w.as_str() != ";")
                .map(|w| w.to_ascii_lowercase())
                .collect();
            let head: Vec<&str> = lower.iter().take(5).map(String::as_str).collect();
            match (head.as_slice(), words.get(5)) {
                (["select", "pg_catalog", ".", "set_config", "("], Some(name))
                    if lower.len() == 11 && lower[7].starts_with('\'') =>
                {
                    setting(name.trim_matches('\''), || sql_words(&words))
                        .ok_or_else(|| refused("this setting is not one that pg_dump writes"))
                }
                _ => Err(refused("it declares nothing")),
            }
        }
        _ => Err(refused(
            "it is not the declaration of an object that this build handles",
        )),
    }
}

/// Settings that a dump makes: two of them matter, the others are accepted and have no effect.
fn setting(name: &str, sql: impl Fn() -> String) -> Option<Verdict> {
    match name {
        "search_path" | "check_function_bodies" => Some(Verdict::Setting(sql())),
        "statement_timeout"
        | "lock_timeout"
        | "idle_in_transaction_session_timeout"
        | "transaction_timeout"
        | "client_encoding"
        | "standard_conforming_strings"
        | "xmloption"
        | "client_min_messages"
        | "row_security"
        | "default_tablespace"
        | "default_table_access_method"
        | "escape_string_warning" => Some(Verdict::Ignored),
        _ => None,
    }
}

fn extension(words: &[String], place: &str) -> Option<Extension> {
    let mut rest = words.iter().skip(2).filter(|w| w.as_str() != ";").peekable();
    if rest.peek().is_some_and(|w| w.eq_ignore_ascii_case("if")) {
        rest.nth(2);
    }
    let name = unquote(rest.next()?);
    if rest.peek().is_some_and(|w| w.eq_ignore_ascii_case("with")) {
        rest.next();
    }
    let schema = match rest.next() {
        Some(word) if word.eq_ignore_ascii_case("schema") => Some(unquote(rest.next()?)),
        Some(_) => return None,
        None => None,
    };
    rest.next().is_none().then(|| Extension {
        name,
        schema,
        place: place.to_owned(),
    })
}

pub(super) fn unquote(word: &str) -> String {
    match word.strip_prefix('"').and_then(|w| w.strip_suffix('"')) {
        Some(inner) => inner.replace("\"\"", "\""),
        None => word.to_ascii_lowercase(),
    }
}

/// The list. Kinds that the catalog reading refuses by name are admitted here, so that the refusal can name the object.
pub(super) fn declares(statement: &Stmt) -> bool {
    matches!(
        statement,
        Stmt::AlterAggregate(_)
            | Stmt::AlterCollation(_)
            | Stmt::AlterDomain(_)
            | Stmt::AlterFunction(_)
            | Stmt::AlterIndex(_)
            | Stmt::AlterMaterializedView(_)
            | Stmt::AlterPolicy(_)
            | Stmt::AlterProcedure(_)
            | Stmt::AlterRoutine(_)
            | Stmt::AlterRule(_)
            | Stmt::AlterSchema(_)
            | Stmt::AlterSequence(_)
            | Stmt::AlterStatistics(_)
            | Stmt::AlterTable(_)
            | Stmt::AlterTrigger(_)
            | Stmt::AlterType(_)
            | Stmt::AlterView(_)
            | Stmt::AlterDefaultPrivileges(_)
            | Stmt::CommentOn(_)
            | Stmt::CreateAggregate(_)
            | Stmt::CreateCollation(_)
            | Stmt::CreateDomain(_)
            | Stmt::CreateFunction(_)
            | Stmt::CreateIndex(_)
            | Stmt::CreateMaterializedView(_)
            | Stmt::CreatePolicy(_)
            | Stmt::CreateProcedure(_)
            | Stmt::CreateRule(_)
            | Stmt::CreateSchema(_)
            | Stmt::CreateSequence(_)
            | Stmt::CreateStatistics(_)
            | Stmt::CreateTable(_)
            | Stmt::CreateTrigger(_)
            | Stmt::CreateType(_)
            | Stmt::CreateView(_)
            | Stmt::DropAggregate(_)
            | Stmt::DropCollation(_)
            | Stmt::DropDomain(_)
            | Stmt::DropFunction(_)
            | Stmt::DropIndex(_)
            | Stmt::DropMaterializedView(_)
            | Stmt::DropPolicy(_)
            | Stmt::DropProcedure(_)
            | Stmt::DropRoutine(_)
            | Stmt::DropRule(_)
            | Stmt::DropSchema(_)
            | Stmt::DropSequence(_)
            | Stmt::DropStatistics(_)
            | Stmt::DropTable(_)
            | Stmt::DropTrigger(_)
            | Stmt::DropType(_)
            | Stmt::DropView(_)
            | Stmt::Grant(_)
            | Stmt::Revoke(_)
    )
}

pub(super) fn kind_name(statement: &Stmt) -> String {
    let kind = format!("{:?}", statement.syntax().kind());
    kind.trim_end_matches("_TRANSACTION")
        .trim_end_matches("_STMT")
        .replace('_', " ")
}

/// Tokens that are neither blank nor comment.
pub(super) fn words(node: &SyntaxNode) -> impl Iterator<Item = squawk_syntax::SyntaxToken> {
    node.descendants_with_tokens()
        .filter_map(|element| element.into_token())
        .filter(|token| !matches!(token.kind(), SyntaxKind::WHITESPACE | SyntaxKind::COMMENT))
}

fn sql_words(words: &[String]) -> String {
    words
        .iter()
        .filter(|w| w.as_str() != ";")
        .cloned()
        .collect::<Vec<_>>()
        .join(" ")
}

fn sql_of(text: &str, node: &SyntaxNode, start: usize) -> String {
    let end = usize::from(node.text_range().end());
    text[start..end]
        .trim_end()
        .trim_end_matches(';')
        .trim_end()
        .to_owned()
}

pub(super) fn line_of(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|b| *b == b'\n').count() + 1
}

pub(super) fn clip(text: &str) -> String {
    text.chars().take(crate::error::SCRATCH_TEXT).collect()
}

/// Blanks out `\restrict TOKEN` and `\unrestrict TOKEN`, which newer `pg_dump`s write as a pair.
fn without_restrict(text: &str) -> String {
    let token = |line: &str, word: &str| {
        let rest = line.strip_prefix(word)?.trim();
        (!rest.is_empty() && rest.bytes().all(|b| b.is_ascii_alphanumeric())).then(|| rest.to_owned())
    };
    let opened: Vec<String> = text
        .lines()
        .filter_map(|line| token(line, "\\restrict "))
        .collect();
    let closed: Vec<String> = text
        .lines()
        .filter_map(|line| token(line, "\\unrestrict "))
        .collect();
    if opened.len() != 1 || opened != closed {
        return text.to_owned();
    }
    let blank = |line: &str| {
        if token(line, "\\restrict ").is_some() || token(line, "\\unrestrict ").is_some() {
            " ".repeat(line.len())
        } else {
            line.to_owned()
        }
    };
    text.split('\n').map(blank).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
