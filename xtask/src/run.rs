//! Runs other programs, and says in one sentence what went wrong with one.
//!
//! A program that fails takes the end of its output into the error: a failed build is read in a log, later, by
//! somebody who cannot run it again.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::workspace;

const TAIL_LINES: usize = 40;

/// The cargo that runs us, at the workspace's root.
#[must_use]
pub fn cargo() -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(workspace::root());
    cargo
}

/// Runs the program to its end and returns its standard output, trimmed.
pub fn output(command: &mut Command) -> Result<String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start {}", name(command)))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        bail!("{} ended with {}: {}", line(command), output.status, tail(&text));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Runs the program to its end; its output is kept only for the error.
pub fn quiet(command: &mut Command) -> Result<()> {
    output(command).map(drop)
}

/// Whether the program ends well. A program that cannot be started does not.
pub fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Runs the program to its end with its output on ours.
pub fn shown(command: &mut Command) -> Result<()> {
    let status = command
        .status()
        .with_context(|| format!("cannot start {}", name(command)))?;
    if !status.success() {
        bail!("{} ended with {status}", line(command));
    }
    Ok(())
}

/// Runs the program to its end with its output in `log`, which the error names and quotes the end of.
pub fn logged(command: &mut Command, log: &Path) -> Result<()> {
    let file = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
    let status = command
        .stdin(Stdio::null())
        .stdout(file.try_clone().context("cannot share the log")?)
        .stderr(file)
        .status()
        .with_context(|| format!("cannot start {}", name(command)))?;
    if !status.success() {
        let text = std::fs::read_to_string(log).unwrap_or_default();
        bail!(
            "{} ended with {status}, see {}: {}",
            line(command),
            log.display(),
            tail(&text)
        );
    }
    Ok(())
}

fn name(command: &Command) -> String {
    command.get_program().to_string_lossy().into_owned()
}

fn line(command: &Command) -> String {
    let mut line = name(command);
    // The whole line of a compiler is longer than its message; the first words name the call.
    for argument in command.get_args().take(8) {
        line.push(' ');
        line.push_str(&argument.to_string_lossy());
    }
    line
}

fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_program_is_named_with_what_it_said() {
        let error = output(Command::new("sh").args(["-c", "echo broken >&2; exit 3"])).unwrap_err();
        assert_eq!(
            error.to_string(),
            "sh -c echo broken >&2; exit 3 ended with exit status: 3: broken"
        );
    }

    #[test]
    fn the_tail_of_a_long_text_is_its_last_lines() {
        let text: String = (0..100).map(|n| format!("{n}\n")).collect();
        assert_eq!(tail(&text).lines().next(), Some("60"));
    }
}
