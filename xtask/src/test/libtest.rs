//! Runs `cargo test`, passes its output on, and counts from its result lines.

use std::fmt;
use std::io::{BufRead, BufReader};
use std::ops::AddAssign;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::progress;

/// How tests ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    /// Tests that passed.
    pub passed: u64,
    /// Tests that failed, and runs that ended badly without saying which test did.
    pub failed: u64,
    /// Tests that did not run.
    pub skipped: u64,
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} passed, {} failed, {} skipped",
            self.passed, self.failed, self.skipped
        )
    }
}

/// Runs the command, which is a `cargo test`, to its end.
pub fn run(command: &mut Command) -> Result<Count> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start cargo")?;
    let output = child.stdout.take().context("cargo has no output")?;
    let mut count = Count::default();
    for line in BufReader::new(output).split(b'\n') {
        let line = line.context("cannot read cargo's output")?;
        let line = String::from_utf8_lossy(&line);
        println!("{line}");
        if let Some(result) = result_line(&line) {
            count += result;
        }
    }
    let status = child.wait().context("cannot wait for cargo")?;
    if !status.success() && count.failed == 0 {
        // A test program that crashed, or code that did not compile, has no result line.
        progress::note(format!("cargo ended with {status}, and no test says why"));
        count.failed = 1;
    }
    Ok(count)
}

// test result: ok. 8 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.11s
fn result_line(line: &str) -> Option<Count> {
    let rest = line.strip_prefix("test result: ")?.split_once(". ")?.1;
    let number = |what: &str| {
        rest.split("; ")
            .find_map(|part| part.strip_suffix(what)?.trim().parse::<u64>().ok())
    };
    Some(Count {
        passed: number("passed")?,
        failed: number("failed")?,
        skipped: number("ignored")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_line_is_counted_and_no_other_is() {
        let line = "test result: FAILED. 8 passed; 2 failed; 1 ignored; 0 measured; 3 filtered out; finished in 0.11s";
        assert_eq!(
            result_line(line),
            Some(Count {
                passed: 8,
                failed: 2,
                skipped: 1
            })
        );
        assert_eq!(result_line("test result_line ... ok"), None);
        assert_eq!(result_line("running 8 tests"), None);
    }

    #[test]
    fn a_run_that_ends_badly_without_a_result_is_a_failure() {
        assert_eq!(
            run(&mut Command::new("false")).unwrap(),
            Count {
                failed: 1,
                ..Count::default()
            }
        );
    }
}
