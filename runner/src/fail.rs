//! How a failure leaves the program.

use std::process::ExitCode;

use ptah_contract::failure::{Failure, FailureClass};

use crate::cli::Output;

/// Wrong arguments.
pub(crate) const USAGE: u8 = 64;

/// A failure and its exit status.
pub(crate) struct Failed {
    failure: Failure,
    status: u8,
}

impl From<Failure> for Failed {
    fn from(failure: Failure) -> Self {
        Self {
            status: failure.class.exit_status(),
            failure,
        }
    }
}

impl From<ptah_engine::Error> for Failed {
    fn from(error: ptah_engine::Error) -> Self {
        error.to_failure().into()
    }
}

impl Failed {
    /// Something about the arguments.
    pub(crate) fn usage(code: &str, message: &str) -> Self {
        Self {
            status: USAGE,
            ..Self::input(code, message)
        }
    }

    /// Something about a file that was named.
    pub(crate) fn input(code: &str, message: impl Into<String>) -> Self {
        Failure::new(code, FailureClass::Input, message).into()
    }

    /// Prints it and gives the exit status.
    pub(crate) fn print(&self, output: Output) -> ExitCode {
        eprintln!("error: {}: {}", self.failure.code, self.failure.message);
        if output == Output::Json {
            let error = serde_json::json!({
                "code": self.failure.code,
                "class": self.failure.class,
                "message": self.failure.message,
                "object": self.failure.object,
                "sqlstate": self.failure.sqlstate,
                "statement": self.failure.statement,
                "causes": [],
            });
            println!("{}", serde_json::json!({ "error": error }));
        }
        ExitCode::from(self.status)
    }
}
