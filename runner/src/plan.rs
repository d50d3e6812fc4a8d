//! `ptah-runner plan`.

use std::io::Write as _;
use std::process::ExitCode;

use ptah_engine::{Deadline, Planned, Scope, Scratch, observe};

use crate::cli::{Output, Plan};
use crate::fail::Failed;
use crate::{files, text};

/// What `--detailed-exitcode` answers when there is something to change.
const CHANGES: u8 = 2;

pub(crate) async fn run(arguments: Plan, stop: Deadline) -> ExitCode {
    match plan(&arguments, &stop).await {
        Ok(planned) => print(&arguments, &planned),
        Err(failed) => failed.print(arguments.output),
    }
}

async fn plan(arguments: &Plan, stop: &Deadline) -> Result<Planned, Failed> {
    let mut policy = files::policy(arguments.policy.as_deref())?;
    policy.allow_destructive |= arguments.allow_destructive;
    let target = files::target(&arguments.database.database_url_file)?;
    // The target says which scratch server it takes, so it is asked before one is started.
    let major = observe(&target, &Scope::exactly(vec![]), &policy, stop)
        .await?
        .server
        .major;
    let scratch = Scratch::child(&arguments.scratch.scratch, major, stop).await?;
    Ok(ptah_engine::plan(&target, &arguments.desired, &scratch, &policy, stop).await?)
}

fn print(arguments: &Plan, planned: &Planned) -> ExitCode {
    if let Some(refusal) = planned.refusals.first() {
        if arguments.output == Output::Text {
            print!("{}", text::plan(&planned.plan));
        }
        return Failed::from(refusal.to_error()).print(arguments.output);
    }
    match arguments.output {
        Output::Json => {
            if std::io::stdout().write_all(&planned.document).is_err() {
                return Failed::input("output_failed", "the plan cannot be written").print(Output::Text);
            }
        }
        Output::Sql => print!("{}", text::sql(&planned.plan)),
        Output::Text => print!("{}", text::plan(&planned.plan)),
    }
    if arguments.detailed_exitcode && !planned.no_change {
        ExitCode::from(CHANGES)
    } else {
        ExitCode::SUCCESS
    }
}
