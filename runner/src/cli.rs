//! The arguments, and the refusal of secrets among them.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand, ValueEnum};
use ptah_contract::digest::Digest;

use crate::fail::{Failed, USAGE};

/// Plans and applies database schemas.
#[derive(Parser)]
#[command(name = "ptah-runner", version, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Runs one container of an operation Pod.
    Operation(crate::operation::Arguments),
    /// Finds the content of a source.
    Resolve(crate::resolve::Arguments),
    /// Checks a source against a verification policy.
    Verify(crate::verify::Arguments),
    /// Reads a database and prints the identity of its state.
    Observe(Observe),
    /// Plans how a database gets the declared state, and proves the plan.
    Plan(Plan),
    /// Runs a plan document exactly as it was written.
    Apply(Apply),
    /// Plans from one declared state to another; needs no database.
    Diff(Diff),
    /// Serves a scratch server to another container of the same Pod.
    Scratch(Scratch),
}

/// How the result is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// One JSON document.
    Json,
    /// The statements alone.
    Sql,
    /// For people.
    Text,
}

/// Where the database is.
#[derive(Args)]
pub(crate) struct DatabaseArguments {
    /// A file that holds the database's URL, as in `postgres://user:password@host/database`.
    #[arg(long, value_name = "FILE")]
    pub(crate) database_url_file: PathBuf,
}

/// What to compare with.
#[derive(Args)]
pub(crate) struct ScratchArguments {
    /// A folder of PostgreSQL servers, one folder `<major>/bin` each, to compare and to prove with.
    #[arg(long, value_name = "DIR", default_value = "/usr/lib/postgresql")]
    pub(crate) scratch: PathBuf,
}

#[derive(Args)]
#[command(
    after_help = "Example:\n  printf 'postgres://app:secret@db.example/shop' > url\n  \
    ptah-runner observe --database-url-file url"
)]
pub(crate) struct Observe {
    #[command(flatten)]
    pub(crate) database: DatabaseArguments,
    /// Reads these schemas beside the URL's own.
    #[arg(long, value_name = "NAME")]
    pub(crate) schema: Vec<String>,
    /// Compares with this declared state as well and counts what differs.
    #[arg(long, value_name = "PATH")]
    pub(crate) desired: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) scratch: ScratchArguments,
    /// A policy, as JSON with the keys of `spec.policy`.
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// How the result is printed.
    #[arg(short, long, value_enum, default_value = "json")]
    pub(crate) output: Output,
}

#[derive(Args)]
#[command(
    after_help = "Example:\n  printf 'postgres://app:secret@db.example/shop' > url\n  \
    printf 'CREATE TABLE users (id bigint PRIMARY KEY);' > schema.sql\n  \
    ptah-runner plan --database-url-file url --desired schema.sql\n  \
    ptah-runner plan --database-url-file url --desired schema.sql -o json > plan.json"
)]
pub(crate) struct Plan {
    #[command(flatten)]
    pub(crate) database: DatabaseArguments,
    /// A .sql file, or a folder of them.
    #[arg(long, value_name = "PATH")]
    pub(crate) desired: PathBuf,
    /// A policy, as JSON with the keys of `spec.policy`.
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// Allows destructive statements, whatever the policy says.
    #[arg(long)]
    pub(crate) allow_destructive: bool,
    /// How the result is printed.
    #[arg(short, long, value_enum, default_value = "text")]
    pub(crate) output: Output,
    /// Exits with 2 when there is something to change.
    #[arg(long)]
    pub(crate) detailed_exitcode: bool,
    #[command(flatten)]
    pub(crate) scratch: ScratchArguments,
}

#[derive(Args)]
#[command(
    after_help = "Example:\n  ptah-runner plan --database-url-file url --desired schema.sql -o json > plan.json\n  \
    ptah-runner apply --database-url-file url --plan plan.json"
)]
pub(crate) struct Apply {
    #[command(flatten)]
    pub(crate) database: DatabaseArguments,
    /// A plan document, as `plan -o json` wrote it.
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: PathBuf,
    /// How long to wait for another run's lock, such as 30s.
    #[arg(long, value_name = "TIME")]
    pub(crate) lock_timeout: Option<ptah_contract::policy::Span>,
    /// How the result is printed.
    #[arg(short, long, value_enum, default_value = "text")]
    pub(crate) output: Output,
}

#[derive(Args)]
#[command(after_help = "Example:\n  printf 'CREATE TABLE t (a int);' > old.sql\n  \
    printf 'CREATE TABLE t (a bigint);' > new.sql\n  ptah-runner diff --from old.sql --to new.sql -o sql")]
pub(crate) struct Diff {
    /// A .sql file, or a folder of them.
    #[arg(long, value_name = "PATH")]
    pub(crate) from: PathBuf,
    /// A .sql file, or a folder of them.
    #[arg(long, value_name = "PATH")]
    pub(crate) to: PathBuf,
    /// How the result is printed.
    #[arg(short, long, value_enum, default_value = "text")]
    pub(crate) output: Output,
    /// The server version to speak for; the newest of `--scratch` when none is given.
    #[arg(long, value_name = "MAJOR")]
    pub(crate) server_major: Option<u32>,
    #[command(flatten)]
    pub(crate) scratch: ScratchArguments,
}

#[derive(Args)]
#[command(
    after_help = "Example:\n  mkdir -p shared work\n  ptah-runner scratch --directory shared --work work"
)]
pub(crate) struct Scratch {
    /// The folder that both containers see.
    #[arg(long, value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// A folder of this container's own, for data.
    #[arg(long, value_name = "DIR")]
    pub(crate) work: PathBuf,
    /// A folder of PostgreSQL servers, one folder `<major>/bin` each.
    #[arg(long, value_name = "DIR", default_value = "/usr/lib/postgresql")]
    pub(crate) servers: PathBuf,
    /// A folder of data folders to copy, one `<major>/template` each.
    #[arg(long, value_name = "DIR", default_value = "/usr/share/ptah/postgresql")]
    pub(crate) templates: PathBuf,
}

/// A URL with a password in argv is in everybody's process list; it is refused and not repeated.
pub(crate) fn secret_in_arguments(arguments: impl IntoIterator<Item = OsString>) -> Option<Failed> {
    let holds = |argument: OsString| {
        let text = argument.to_string_lossy().into_owned();
        let Some((scheme, rest)) = text.split_once("://") else {
            return false;
        };
        // The digest of a reference stands behind an `@` as well.
        let rest = match rest.rsplit_once('@') {
            Some((before, digest)) if scheme.ends_with("oci") && digest.parse::<Digest>().is_ok() => before,
            _ => rest,
        };
        let authority = rest.split(['/', '?']).next().unwrap_or_default();
        // A password may hold any character, so what counts is `:` before the last `@`.
        let userinfo = rest.rsplit_once('@').map_or(authority, |(before, _)| before);
        rest.contains('@') && userinfo.contains(':')
    };
    arguments.into_iter().any(holds).then(|| {
        Failed::usage(
            "secret_in_arguments",
            "a URL with a password is not taken as an argument; name a file",
        )
    })
}

/// Help goes to standard output, everything else is a usage failure.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    // Nothing is left to tell when the terminal is gone.
    let _ = error.print();
    if error.use_stderr() {
        ExitCode::from(USAGE)
    } else {
        ExitCode::SUCCESS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        use clap::CommandFactory as _;
        Cli::command().debug_assert();
    }

    #[test]
    fn a_password_in_a_url_is_found_in_any_spelling() {
        for (argument, refused) in [
            ("postgres://u:hunter2@h/d", true),
            ("--database-url-file=postgres://u:hunter2@h/d", true),
            ("postgres://u:hun/ter2@h/d", true),
            ("postgres://u@h/d", false),
            ("https://host:8443/path", false),
            (&format!("oci://host:5000/app:v1@{}", Digest::of(b"")), false),
            (&format!("oci://u:hunter2@host/app:v1@{}", Digest::of(b"")), true),
            ("oci://u:hunter2@host/app:v1", true),
            ("oci://host:5000/app:v1@sha256:0", true),
            ("plan.json", false),
        ] {
            assert_eq!(
                secret_in_arguments([OsString::from(argument)]).is_some(),
                refused,
                "{argument}"
            );
        }
    }
}
