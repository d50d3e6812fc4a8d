//! What can go wrong in the engine.
//!
//! Promises: each code belongs to exactly one class, and no message holds a URL, a password, or text that the
//! target's server wrote (it quotes rows). What the scratch server says about the user's own file is the one
//! exception, and at most [`SCRATCH_TEXT`] characters of it.

use ptah_contract::failure::{Failure, FailureClass};

/// The most characters of the scratch server's own words that a message repeats.
pub const SCRATCH_TEXT: usize = 256;

/// The engine's result.
pub type Result<T> = std::result::Result<T, Error>;

macro_rules! codes {
    ($($variant:ident => $code:literal, $class:ident, $doc:literal;)*) => {
        /// Why an operation failed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code { $(#[doc = $doc] $variant,)* }

        impl Code {
            /// Every code there is.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The stable name.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $code,)* }
            }

            /// Who can end it.
            #[must_use]
            pub fn class(self) -> FailureClass {
                match self { $(Self::$variant => FailureClass::$class,)* }
            }
        }
    };
}

codes! {
    // Connection.
    MalformedTarget => "malformed_target", Input, "The URL or the separate keys do not name one database.";
    UnsupportedEngine => "unsupported_engine", Refused, "Another engine, or a server version that is not supported.";
    AuthenticationFailed => "authentication_failed", Input, "The server rejected user or password.";
    DatabaseNotFound => "database_not_found", Input, "The server has no such database.";
    ConnectionRefused => "connection_refused", Transient, "Nothing listens there.";
    HostUnreachable => "host_unreachable", Transient, "No way to the host.";
    NameNotResolved => "name_not_resolved", Transient, "The host name has no address.";
    ConnectTimeout => "connect_timeout", Transient, "No connection in time.";
    ConnectionLost => "connection_lost", Transient, "The connection broke.";
    ServerUnavailable => "server_unavailable", Transient, "The server starts, stops, or has no connection left.";
    TlsFailed => "tls_failed", Input, "No TLS as the target demands it.";
    CertificateNotTrusted => "certificate_not_trusted", Attention, "The server's certificate does not verify.";
    TransactionPooler => "transaction_pooler", Refused, "A pooler that hands each transaction to another session.";
    MissingPrivilege => "missing_privilege", Input, "The URL's user may not read or do something.";
    QueryFailed => "query_failed", Attention, "The server refused one of our own readings.";
    // Desired state.
    DesiredUnreadable => "desired_unreadable", Input, "A file or folder cannot be read, or is no UTF-8.";
    EmptyDesiredState => "empty_desired_state", Input, "The desired state declares nothing.";
    DesiredSyntax => "desired_syntax", Input, "A file that does not parse, or says what has no meaning.";
    DesiredMissingObject => "desired_missing_object", Input, "SQL names an object that nothing declares.";
    DesiredRejected => "desired_rejected", Input, "The scratch server refused a declared statement.";
    StatementNotAdmitted => "statement_not_admitted", Refused, "A kind of statement that declares nothing.";
    MissingExtension => "missing_extension", Refused, "The scratch server lacks an extension.";
    // Scratch server.
    NoScratchServer => "no_scratch_server", Refused, "No server of the target's major version to compare with.";
    ScratchLimit => "scratch_limit", Input, "A declared statement used more time, disk or memory than it may.";
    ScratchFailed => "scratch_failed", Transient, "The scratch server did not start or broke.";
    // Plan.
    ScopeMismatch => "scope_mismatch", Input, "The desired state names a schema that was not observed.";
    UnsupportedObject => "unsupported_object", Refused, "A kind of object that is not handled.";
    UnsupportedChange => "unsupported_change", Refused, "A change that cannot be made safely.";
    OutsideDependency => "outside_dependency", Refused, "An object in scope and one outside depend on each other.";
    UnprovenPlan => "unproven_plan", Refused, "The plan does not lead to the desired state.";
    NondeterministicPlan => "nondeterministic_plan", Attention, "Two readings gave two plans.";
    DestructiveNotAllowed => "destructive_not_allowed", Refused, "The plan is destructive and the policy forbids it.";
    ProtectedTable => "protected_table", Refused, "The plan touches a protected table.";
    InvalidPolicy => "invalid_policy", Input, "A selector of the policy is malformed.";
    // Apply.
    PlanMalformed => "plan_malformed", Input, "The bytes are no plan document.";
    PlanDigestMismatch => "plan_digest_mismatch", Attention, "The bytes are not those that were approved.";
    PolicyMismatch => "policy_mismatch", Refused, "The plan was proven under another transaction mode.";
    StalePlan => "stale_plan", Refused, "The database is not in the state that the plan starts from.";
    LockTimeout => "lock_timeout", Transient, "Another run holds the advisory lock.";
    StatementLockTimeout => "statement_lock_timeout", Transient, "A table lock was not to be had in time.";
    StatementFailed => "statement_failed", Attention, "The server refused a statement of the plan.";
    Canceled => "canceled", Transient, "Stopped on request.";
    DeadlineExceeded => "deadline_exceeded", Transient, "Stopped at the deadline.";
    OutcomeUnknown => "outcome_unknown", Attention, "The connection broke while the server was committing.";
    Internal => "internal", Internal, "A defect of this program.";
}

/// A failure of the engine.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("{message}")]
pub struct Error {
    kind: Code,
    message: String,
    object: Option<String>,
    sqlstate: Option<String>,
    statement: Option<u32>,
}

impl Error {
    /// A failure with its sentence.
    pub fn new(kind: Code, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            object: None,
            sqlstate: None,
            statement: None,
        }
    }

    /// The same about a named file, table or field.
    #[must_use]
    pub fn about(mut self, object: impl Into<String>) -> Self {
        self.object = Some(object.into());
        self
    }

    /// The same with the server's SQLSTATE.
    #[must_use]
    pub fn sqlstate(mut self, sqlstate: Option<String>) -> Self {
        self.sqlstate = sqlstate;
        self
    }

    /// The same at a statement, counted from 1.
    #[must_use]
    pub fn statement(mut self, position: usize) -> Self {
        self.statement = u32::try_from(position).ok();
        self
    }

    /// Why.
    #[must_use]
    pub fn kind(&self) -> Code {
        self.kind
    }

    /// The stable name of why.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.kind.name()
    }

    /// Who can end it.
    #[must_use]
    pub fn class(&self) -> FailureClass {
        self.kind.class()
    }

    /// As it leaves the process.
    #[must_use]
    pub fn to_failure(&self) -> Failure {
        Failure {
            code: self.code().to_owned(),
            class: self.class(),
            message: self.message.clone(),
            object: self.object.clone(),
            sqlstate: self.sqlstate.clone(),
            statement: self.statement,
        }
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(Code::Internal, message)
    }

    /// An error that a server reported, or the loss of the server, without a word that the server wrote.
    pub(crate) fn from_server(kind: Code, what: &str, error: &tokio_postgres::Error) -> Self {
        let Some(db) = error.as_db_error() else {
            return if error.is_closed() || has_io(error) {
                Self::new(Code::ConnectionLost, format!("{what}: the connection broke"))
            } else {
                Self::internal(format!("{what}: the server's answer was not understood"))
            };
        };
        let state = db.code().code();
        let kind = match state {
            "42501" => Code::MissingPrivilege,
            "55P03" => Code::StatementLockTimeout,
            "57P01" | "57P02" | "57P03" | "53300" => Code::ServerUnavailable,
            _ => kind,
        };
        let names: Vec<&str> = [db.schema(), db.table(), db.column(), db.constraint()]
            .into_iter()
            .flatten()
            .collect();
        let error = Self::new(kind, format!("{what} (SQLSTATE {state})")).sqlstate(Some(state.to_owned()));
        if names.is_empty() {
            error
        } else {
            error.about(names.join("."))
        }
    }
}

fn has_io(error: &tokio_postgres::Error) -> bool {
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        if inner.is::<std::io::Error>() {
            return true;
        }
        source = inner.source();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_name_of_its_own() {
        let mut names: Vec<_> = Code::ALL.iter().map(|code| code.name()).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
