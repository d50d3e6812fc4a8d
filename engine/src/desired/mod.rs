//! The desired state: files of SQL, HCL or YAML, read, admitted by kind, and loaded into a scratch database.
//!
//! Promises: files need no order; an error names file, line and statement; nothing but declarations runs.
//! Never executes a statement whose kind the parser did not recognise.

mod admission;
mod coverage;
mod formats;
mod load;
mod made;
mod rename;
mod room;
mod rows;
mod sources;

use std::path::Path;

pub use admission::Statement;
pub(crate) use admission::{Extension, extension_of, single_statement_kind};
pub use coverage::{Coverage, Kind as UndescribedKind};
pub(crate) use load::load;
pub use rename::Renamed;
pub(crate) use rename::{Kind, Part};
pub use rows::{Cell, DeclaredRows, Tag};

use crate::error::{Code, Error, Result};

/// The files of a desired state, split into admitted statements.
#[derive(Debug, Default)]
pub struct Desired {
    /// In byte order of paths, each file's in its own order.
    pub(crate) statements: Vec<Statement>,
    /// Extensions that the files ask for.
    pub(crate) extensions: Vec<Extension>,
    /// What the files say they do not describe.
    pub(crate) coverage: Coverage,
    /// Rows that the files declare.
    pub(crate) rows: Vec<DeclaredRows>,
}

impl Desired {
    /// Reads one file, or every one below a folder: `.sql`, or `.hcl` with `managed-data.json` or the files of rows
    /// that it names, or one `.yaml`.
    ///
    /// # Errors
    /// `desired_unreadable`, `desired_syntax`, `statement_not_admitted`, `empty_desired_state`, and
    /// `unsupported_object` for declared rows and for what a document says and is not done here.
    pub fn read(path: &Path) -> Result<Self> {
        let desired = sources::read(path)?;
        if let Some(rows) = desired.rows.first() {
            let table = rows.shown();
            let message = format!("{table} has declared rows, which this build does not plan");
            return Err(Error::new(Code::UnsupportedObject, message).about(table));
        }
        if desired.statements.is_empty() && desired.extensions.is_empty() {
            return Err(Error::new(
                Code::EmptyDesiredState,
                "the desired state declares nothing",
            ));
        }
        Ok(desired)
    }
}

/// What tests and fuzzing read of a desired state, and nobody else.
#[doc(hidden)]
pub mod inspect {
    use std::path::Path;

    pub use super::{Cell, Coverage, DeclaredRows, Statement, Tag, UndescribedKind};
    use super::{Desired, formats, sources};
    use crate::error::Result;

    /// Everything that a path declares, rows included.
    #[derive(Debug)]
    pub struct Read {
        /// The statements, in the order in which they are tried.
        pub statements: Vec<Statement>,
        /// Extensions, with their schemas.
        pub extensions: Vec<(String, Option<String>)>,
        /// The coverage header.
        pub coverage: Coverage,
        /// Declared rows.
        pub rows: Vec<DeclaredRows>,
    }

    impl From<Desired> for Read {
        fn from(desired: Desired) -> Self {
            let extensions = desired.extensions.into_iter();
            Self {
                extensions: extensions.map(|found| (found.name, found.schema)).collect(),
                statements: desired.statements,
                coverage: desired.coverage,
                rows: desired.rows,
            }
        }
    }

    /// Reads a path as [`Desired::read`] does, without its last checks.
    ///
    /// # Errors
    /// As there.
    pub fn read(path: &Path) -> Result<Read> {
        sources::read(path).map(Read::from)
    }

    /// Reads the text of a document of HCL.
    ///
    /// # Errors
    /// As for a file.
    pub fn hcl(text: &str) -> Result<Read> {
        let document = || formats::Document::hcl("schema.hcl", text);
        sources::documents(document, "schema.hcl", text, &["//", "#"]).map(Read::from)
    }

    /// Reads the text of a document of YAML.
    ///
    /// # Errors
    /// As for a file.
    pub fn yaml(text: &str) -> Result<Read> {
        let document = || formats::Document::yaml("schema.yaml", text);
        sources::documents(document, "schema.yaml", text, &["#"]).map(Read::from)
    }
}
