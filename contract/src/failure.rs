//! What every failure answers: will it pass by itself, does it need an edit, did a rule say no, or must a
//! person look? Conditions, retry delays, exit codes and metrics derive from this answer and nothing else.

use serde::{Deserialize, Serialize};

/// Who can end a failure. The exit status in brackets is that of `ptah-runner`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FailureClass {
    /// It passes by itself: a connection refused, a time-out, a lock that is taken (75).
    Transient,
    /// Somebody must edit an input: a malformed field, SQL that does not parse, a rejected password (65).
    Input,
    /// A rule said no: a protected table, a destructive plan without leave, a plan that does not prove (77).
    Refused,
    /// The other side is not what it says, or an outcome is unknown; a person must look (78).
    Attention,
    /// A defect of this program (70).
    Internal,
}

impl FailureClass {
    /// The exit status of the command line for this class.
    #[must_use]
    pub fn exit_status(self) -> u8 {
        match self {
            Self::Transient => 75,
            Self::Input => 65,
            Self::Refused => 77,
            Self::Attention => 78,
            Self::Internal => 70,
        }
    }
}

/// Characters of somebody else's document that a message repeats at most.
const MAX_QUOTED: usize = 512;

/// As much as a message repeats of what a parser said, which repeats keys and values of the document, however long.
#[must_use]
pub fn quoted(said: &str) -> String {
    said.chars().take(MAX_QUOTED).collect()
}

/// A failure as it crosses a process boundary.
///
/// `message` is one lower-case sentence. It never holds text that the target's server wrote, a URL, or a
/// credential; the writer guarantees that, since a reader cannot check it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Failure {
    /// Stable `snake_case` name, such as `stale_plan`; each belongs to exactly one class.
    pub code: String,
    /// Who can end it.
    pub class: FailureClass,
    /// One sentence for people.
    pub message: String,
    /// The file, table, field or object it is about, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// The server's SQLSTATE, where a statement reached it and failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sqlstate: Option<String>,
    /// 1-based position of the statement that failed, where one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statement: Option<u32>,
}

impl Failure {
    /// A failure about no object and no statement.
    #[must_use]
    pub fn new(code: &str, class: FailureClass, message: impl Into<String>) -> Self {
        Self {
            code: code.to_owned(),
            class,
            message: message.into(),
            object: None,
            sqlstate: None,
            statement: None,
        }
    }
}
