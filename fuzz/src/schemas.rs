//! Documents of a desired schema, which become statements for a scratch server.

use ptah_engine::inspect::{self, Read};

use crate::{bounded, text};

/// Whatever a document says, each statement that comes out of it is one that a parser takes for one declaration, and
/// the same document gives the same statements.
fn hold(read: impl Fn() -> Result<Read, ptah_engine::Error>) {
    match read() {
        Err(error) => bounded(&error),
        Ok(found) => {
            for statement in &found.statements {
                assert!(statement.line >= 1 && !statement.sql.contains('\0'));
                let parsed = squawk_syntax::ast::SourceFile::parse(&statement.sql);
                assert!(parsed.errors().is_empty(), "{}", statement.sql);
                assert_eq!(parsed.tree().stmts().count(), 1, "{}", statement.sql);
            }
            let again = read().expect("it was read before");
            assert_eq!(found.statements, again.statements);
        }
    }
}

/// A document of HCL.
pub fn hcl_schema(data: &[u8]) {
    if let Some(text) = text(data) {
        hold(|| inspect::hcl(text));
    }
}

/// A document of YAML.
pub fn yaml_schema(data: &[u8]) {
    if let Some(text) = text(data) {
        hold(|| inspect::yaml(text));
    }
}
