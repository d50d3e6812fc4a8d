//! Pieces of SQL that a document holds as text: what each may be, so that none reaches beyond its place.
//!
//! Promises: a piece that passed is one type, one query, or text in which every parenthesis, string and comment that
//! it opens is closed and no semicolon stands. No piece can end the statement around it.

use squawk_lexer::{LiteralKind, TokenKind, tokenize};
use squawk_syntax::SyntaxKind;
use squawk_syntax::ast::{AstNode as _, SourceFile, Stmt, TableArg};

use super::place::Text;
use crate::desired::room;
use crate::error::Result;
use crate::name::quote;

/// A piece between a pair of parentheses, where it cannot mean anything but what the grammar has there.
pub(super) fn enclosed(piece: &Text) -> Result<String> {
    if scan(piece)?.is_empty() {
        return Err(piece.at.malformed("it says nothing"));
    }
    Ok(in_parentheses(&piece.text))
}

/// The same, or nothing: a function's parameters.
pub(super) fn parameters(piece: &Text) -> Result<String> {
    scan(piece)?;
    Ok(in_parentheses(&piece.text))
}

/// What follows the columns of a table.
pub(super) fn tail(piece: &Text) -> Result<String> {
    let text = piece.text.trim();
    scan(piece)?;
    let parsed = SourceFile::parse(&format!("CREATE TABLE t (c int)\n{text}"));
    let mut statements = parsed.tree().stmts();
    match (statements.next(), statements.next()) {
        (Some(Stmt::CreateTable(_)), None) if parsed.errors().is_empty() => Ok(text.to_owned()),
        _ => Err(piece.at.malformed("it cannot follow the columns of a table")),
    }
}

/// A line comment would swallow the parenthesis.
fn in_parentheses(text: &str) -> String {
    let text = text.trim();
    let ends = if text.contains("--") { "\n" } else { "" };
    format!("({text}{ends})")
}

/// A type of a column, an argument or a domain.
pub(super) fn data_type(piece: &Text) -> Result<String> {
    let text = piece.text.trim();
    scan(piece)?;
    let sql = format!("CREATE TABLE t (c {text}\n)");
    let parsed = SourceFile::parse(&sql);
    let whole = || {
        let Some(Stmt::CreateTable(table)) = parsed.tree().stmts().next() else {
            return None;
        };
        let mut args = table.table_arg_list()?.args();
        let (Some(TableArg::Column(column)), None) = (args.next(), args.next()) else {
            return None;
        };
        let range = column.ty()?.syntax().text_range();
        Some(sql.get(usize::from(range.start())..usize::from(range.end()))? == text)
    };
    let setof = text
        .get(..5)
        .is_some_and(|word| word.eq_ignore_ascii_case("setof"));
    if parsed.errors().is_empty() && !setof && whole() == Some(true) {
        Ok(text.to_owned())
    } else {
        Err(piece.at.malformed(format!("{text:?} is not a type")))
    }
}

/// What a function returns.
pub(super) fn returns(piece: &Text) -> Result<String> {
    let text = piece.text.trim();
    scan(piece)?;
    let sql = format!("CREATE FUNCTION f() RETURNS {text}\nLANGUAGE sql AS ''");
    let parsed = SourceFile::parse(&sql);
    let whole = || {
        let Some(Stmt::CreateFunction(function)) = parsed.tree().stmts().next() else {
            return None;
        };
        let range = function.ret_type()?.syntax().text_range();
        let found = sql.get(usize::from(range.start())..usize::from(range.end()))?;
        let keyword = found.get(.."returns".len())?;
        Some(keyword.eq_ignore_ascii_case("returns") && found["returns".len()..].trim() == text)
    };
    if parsed.errors().is_empty() && whole() == Some(true) {
        Ok(text.to_owned())
    } else {
        Err(piece
            .at
            .malformed(format!("{text:?} is not what a function can return")))
    }
}

/// The query of a view, without a semicolon behind it.
pub(super) fn query(piece: &Text) -> Result<String> {
    if let Some(at) = room::too_long(&piece.text) {
        let line = piece.text[..at].matches('\n').count() + 1;
        return Err(piece
            .at
            .malformed(format!("line {line} of it is too long or nested too deeply")));
    }
    let parsed = SourceFile::parse(&piece.text);
    if let Some(error) = parsed.errors().first() {
        return Err(piece
            .at
            .malformed(format!("it does not parse: {}", error.message())));
    }
    let mut statements = parsed
        .tree()
        .stmts()
        .filter(|statement| !matches!(statement, Stmt::EmptyStmt(_)));
    let (Some(statement), None) = (statements.next(), statements.next()) else {
        return Err(piece.at.malformed("it is not exactly one query"));
    };
    if !matches!(
        statement,
        Stmt::Select(_) | Stmt::Values(_) | Stmt::Table(_) | Stmt::CompoundSelect(_) | Stmt::ParenSelect(_)
    ) {
        return Err(piece.at.malformed("it is not a query"));
    }
    let words: Vec<_> = statement
        .syntax()
        .descendants_with_tokens()
        .filter_map(|element| element.into_token())
        .filter(|token| {
            !matches!(
                token.kind(),
                SyntaxKind::WHITESPACE | SyntaxKind::COMMENT | SyntaxKind::SEMICOLON
            )
        })
        .collect();
    let (Some(first), Some(last)) = (words.first(), words.last()) else {
        return Err(piece.at.malformed("it says nothing"));
    };
    let range = usize::from(first.text_range().start())..usize::from(last.text_range().end());
    Ok(piece.text[range].to_owned())
}

/// One name, such as an access method or a language.
pub(super) fn name(piece: &Text) -> Result<String> {
    let [word] = scan(piece)?[..] else {
        return Err(piece
            .at
            .malformed(format!("{:?} is not one name", piece.text.trim())));
    };
    one_name(word).ok_or_else(|| piece.at.malformed(format!("{word:?} is not a name")))
}

/// A name that may have a schema before it, such as a collation.
pub(super) fn qualified(piece: &Text) -> Result<String> {
    let words = scan(piece)?;
    dotted(&words).ok_or_else(|| {
        piece
            .at
            .malformed(format!("{:?} is not a name", piece.text.trim()))
    })
}

/// An operator class, with parameters if it has some.
pub(super) fn operator_class(piece: &Text) -> Result<String> {
    let words = scan(piece)?;
    let names = words.iter().take_while(|word| **word != "(").count();
    let name = dotted(&words[..names]);
    match (name, words.get(names), words.last()) {
        (Some(name), None, _) => Ok(name),
        (Some(name), Some(_), Some(&")")) => Ok(format!("{name} {}", words[names..].join(" "))),
        _ => Err(piece
            .at
            .malformed(format!("{:?} is not an operator class", piece.text.trim()))),
    }
}

fn dotted(words: &[&str]) -> Option<String> {
    let parts: Option<Vec<String>> = words
        .chunks(2)
        .map(|pair| match pair {
            [word] => one_name(word),
            [word, "."] => one_name(word),
            _ => None,
        })
        .collect();
    let parts = parts?;
    (words.len() % 2 == 1 && parts.len() <= 2).then(|| parts.join("."))
}

/// A word that may be a name, quoted as SQL needs it.
fn one_name(word: &str) -> Option<String> {
    if let Some(inner) = word.strip_prefix('"').and_then(|word| word.strip_suffix('"')) {
        return Some(quote(&inner.replace("\"\"", "\"")));
    }
    let mut chars = word.chars();
    let first = chars.next()?;
    let name = (first.is_alphabetic() || first == '_') && chars.all(|c| c.is_alphanumeric() || c == '_');
    name.then(|| quote(&word.to_lowercase()))
}

/// Dollar quotes that a text does not hold itself.
pub(super) fn dollar_quotes(text: &str) -> String {
    let mut tag = String::from("$$");
    let mut number = 0_usize;
    // Without its last sign, since the text may end with all but that.
    while text.contains(&tag[..tag.len() - 1]) {
        number += 1;
        tag = format!("$body{number}$");
    }
    tag
}

/// The words of a piece, of which every one is closed.
fn scan(piece: &Text) -> Result<Vec<&str>> {
    let mut words = Vec::new();
    let mut open: Vec<TokenKind> = Vec::new();
    let mut at = 0;
    if room::too_long(&piece.text).is_some() {
        return Err(piece.at.malformed("it is too long or nested too deeply"));
    }
    for token in tokenize(&piece.text) {
        let text = piece.text.get(at..at + token.len as usize).unwrap_or_default();
        at += token.len as usize;
        let closed = match token.kind {
            TokenKind::Whitespace | TokenKind::LineComment | TokenKind::BlockComment { terminated: true } => {
                continue;
            }
            TokenKind::Eof => break,
            TokenKind::Semi => return Err(piece.at.malformed("a semicolon stands in it")),
            TokenKind::OpenParen => {
                open.push(TokenKind::CloseParen);
                true
            }
            TokenKind::OpenBracket => {
                open.push(TokenKind::CloseBracket);
                true
            }
            TokenKind::CloseParen | TokenKind::CloseBracket => open.pop() == Some(token.kind),
            TokenKind::Unknown
            | TokenKind::Backtick
            | TokenKind::OpenCurly
            | TokenKind::CloseCurly
            | TokenKind::BlockComment { terminated: false }
            | TokenKind::QuotedIdent {
                terminated: false, ..
            } => false,
            TokenKind::Literal { kind } => terminated(kind),
            _ => true,
        };
        if !closed {
            return Err(piece
                .at
                .malformed(format!("{text:?} in it is not closed, or closes nothing")));
        }
        words.push(text);
    }
    if open.is_empty() {
        Ok(words)
    } else {
        Err(piece.at.malformed("a parenthesis in it is not closed"))
    }
}

fn terminated(kind: LiteralKind) -> bool {
    match kind {
        LiteralKind::Str { terminated }
        | LiteralKind::NationalStr { terminated }
        | LiteralKind::ByteStr { terminated }
        | LiteralKind::BitStr { terminated }
        | LiteralKind::DollarQuotedString { terminated }
        | LiteralKind::UnicodeEscStr { terminated }
        | LiteralKind::EscStr { terminated } => terminated,
        LiteralKind::Int { .. } | LiteralKind::Numeric { .. } => true,
    }
}
