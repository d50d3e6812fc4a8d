//! `ptah-runner observe`.

use std::process::ExitCode;

use ptah_engine::{Deadline, Scope, Scratch};
use serde_json::{Value, json};

use crate::cli::{Observe, Output};
use crate::fail::Failed;
use crate::files;

pub(crate) async fn run(arguments: Observe, stop: Deadline) -> ExitCode {
    match observe(&arguments, &stop).await {
        Ok(report) => {
            match arguments.output {
                Output::Json | Output::Sql => println!("{report:#}"),
                Output::Text => println!("{}", report["fingerprint"].as_str().unwrap_or_default()),
            }
            ExitCode::SUCCESS
        }
        Err(failed) => failed.print(arguments.output),
    }
}

async fn observe(arguments: &Observe, stop: &Deadline) -> Result<Value, Failed> {
    let policy = files::policy(arguments.policy.as_deref())?;
    let target = files::target(&arguments.database.database_url_file)?;
    let mut scratch = None;
    let mut scope = Scope::new(&target, arguments.schema.clone());
    if let Some(desired) = &arguments.desired {
        let major = ptah_engine::observe(&target, &Scope::exactly(vec![]), &policy, stop)
            .await?
            .server
            .major;
        let server = Scratch::child(&arguments.scratch.scratch, major, stop).await?;
        let named = ptah_engine::desired_scope(&target, desired, &server, stop).await?;
        scope = Scope::exactly([scope.schemas(), named.schemas()].concat());
        scratch = Some((server, desired));
    }
    let observation = ptah_engine::observe(&target, &scope, &policy, stop).await?;
    let mut report = json!({
        "fingerprint": observation.fingerprint,
        "scope": observation.scope,
        "objects": observation.object_count(),
        "database": observation.database,
        "server": {
            "dialect": "postgres",
            "major": observation.server.major,
            "version": observation.server.version,
            "identity": observation.server.identity,
        },
    });
    if let Some((server, desired)) = scratch {
        let drift = ptah_engine::drift(&observation, &target, desired, &server, &policy, stop).await?;
        report["drift"] = serde_json::to_value(drift).unwrap_or_default();
    }
    Ok(report)
}
