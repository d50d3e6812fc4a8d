//! `ptah-runner diff`.

use std::path::Path;
use std::process::ExitCode;

use ptah_contract::plan_document::PlanDocument;
use ptah_contract::policy::SchemaPolicy;
use ptah_engine::{Deadline, Scratch};

use crate::cli::{Diff, Output};
use crate::fail::Failed;
use crate::text;

pub(crate) async fn run(arguments: Diff, stop: Deadline) -> ExitCode {
    let plan = match diff(&arguments, &stop).await {
        Ok(plan) => plan,
        Err(failed) => return failed.print(arguments.output),
    };
    match arguments.output {
        Output::Json => match plan.encode() {
            Ok(bytes) => print!("{}", String::from_utf8_lossy(&bytes)),
            Err(error) => return Failed::input("plan_malformed", error.to_string()).print(Output::Json),
        },
        Output::Sql => print!("{}", text::sql(&plan)),
        Output::Text => print!("{}", text::plan(&plan)),
    }
    ExitCode::SUCCESS
}

async fn diff(arguments: &Diff, stop: &Deadline) -> Result<PlanDocument, Failed> {
    let policy = SchemaPolicy::default();
    let home = &arguments.scratch.scratch;
    let major = arguments.server_major.or_else(|| newest(home)).unwrap_or(0);
    let scratch = Scratch::child(home, major, stop).await?;
    Ok(ptah_engine::diff(&arguments.from, &arguments.to, &scratch, &policy, stop).await?)
}

fn newest(home: &Path) -> Option<u32> {
    let entries = std::fs::read_dir(home).ok()?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names.filter_map(|name| name.parse().ok()).max()
}
