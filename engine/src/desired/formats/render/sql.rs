//! A statement being written, which knows for each of its lines where that stands in the document.

use crate::desired::formats::place::{At, Text};

/// A statement made from a document.
#[derive(Debug)]
pub(in crate::desired) struct Rendered {
    /// What the parser must find in it.
    pub(in crate::desired) kind: &'static str,
    /// Without a semicolon.
    pub(in crate::desired) sql: String,
    /// Where it comes from.
    pub(in crate::desired) at: At,
    /// The document's line of each of its own lines.
    pub(in crate::desired) lines: Vec<usize>,
}

impl Rendered {
    pub(super) fn new(kind: &'static str, at: &At) -> Self {
        Self {
            kind,
            sql: kind.to_owned(),
            at: at.clone(),
            lines: vec![at.line],
        }
    }

    /// Appends our own text, whose line breaks all stand at one line of the document.
    pub(super) fn push(mut self, text: &str) -> Self {
        let line = self.lines.last().copied().unwrap_or(self.at.line);
        self.lines.extend(text.matches('\n').map(|_| line));
        self.sql.push_str(text);
        self
    }

    /// Begins a line that stands elsewhere in the document.
    pub(super) fn line(mut self, at: &At, text: &str) -> Self {
        self.sql.push('\n');
        self.lines.push(at.line);
        self.push(text)
    }

    /// Appends what was made of a piece.
    pub(super) fn piece(mut self, piece: &Text, sql: &str) -> Self {
        if let Some(last) = self.lines.last_mut().filter(|_| piece.steps) {
            *last = piece.line;
        }
        for (step, _) in sql.matches('\n').enumerate() {
            self.lines
                .push(piece.line + if piece.steps { step + 1 } else { 0 });
        }
        self.sql.push_str(sql);
        self
    }
}
