//! Where something stands in a document, and how an error says so.

use std::fmt;
use std::sync::Arc;

use crate::desired::admission::clip;
use crate::error::{Code, Error};

/// A file, a line, the block or key around it, and the attribute in that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::desired) struct At {
    file: Arc<str>,
    /// 1-based.
    pub(in crate::desired) line: usize,
    block: Arc<str>,
    attribute: Option<Arc<str>>,
}

impl At {
    /// The document itself.
    pub(in crate::desired) fn document(file: &str) -> Self {
        Self {
            file: file.into(),
            line: 1,
            block: "".into(),
            attribute: None,
        }
    }

    /// A block inside this one.
    pub(super) fn block(&self, line: usize, name: &str) -> Self {
        let block = if self.block.is_empty() {
            name.into()
        } else {
            format!("{}, {name}", self.block).into()
        };
        Self {
            file: self.file.clone(),
            line,
            block,
            attribute: None,
        }
    }

    /// An attribute of this block.
    pub(super) fn attribute(&self, line: usize, name: &str) -> Self {
        Self {
            file: self.file.clone(),
            line,
            block: self.block.clone(),
            attribute: Some(name.into()),
        }
    }

    /// The same, at another line.
    pub(in crate::desired) fn at_line(&self, line: usize) -> Self {
        Self { line, ..self.clone() }
    }

    /// The file's name.
    pub(in crate::desired) fn file(&self) -> &str {
        &self.file
    }

    /// The block's kind and name, with those around it.
    pub(in crate::desired) fn block_name(&self) -> &str {
        &self.block
    }

    /// The document says what nobody can read.
    pub(in crate::desired) fn malformed(&self, why: impl fmt::Display) -> Error {
        self.error(Code::DesiredSyntax, why)
    }

    /// The document says what is not done here.
    pub(in crate::desired) fn refused(&self, why: impl fmt::Display) -> Error {
        self.error(Code::UnsupportedObject, why)
    }

    pub(super) fn error(&self, code: Code, why: impl fmt::Display) -> Error {
        let why = clip(&why.to_string());
        Error::new(code, format!("{self}: {why}")).about(format!("{}:{}", self.file, self.line))
    }
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        match (&*self.block, &self.attribute) {
            ("", None) => Ok(()),
            (block, None) => write!(f, ": {}", clip(block)),
            ("", Some(attribute)) => write!(f, ": {}", clip(attribute)),
            (block, Some(attribute)) => write!(f, ": {}, {}", clip(block), clip(attribute)),
        }
    }
}

/// A text that somebody wrote, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Text {
    pub(super) text: String,
    pub(super) at: At,
    /// The line of the document on which its own first line stands.
    pub(super) line: usize,
    /// Whether its line breaks are the document's, as in a heredoc or a block scalar.
    pub(super) steps: bool,
}

impl Text {
    pub(super) fn new(text: impl Into<String>, at: &At) -> Self {
        Self {
            text: text.into(),
            line: at.line,
            at: at.clone(),
            steps: false,
        }
    }
}
