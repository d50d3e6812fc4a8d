//! `ptah-runner apply`.

use std::process::ExitCode;

use ptah_contract::digest::Digest;
use ptah_contract::policy::SchemaPolicy;
use ptah_engine::{ApplyOutcome, Deadline, read_plan};

use crate::cli::{Apply, Output};
use crate::fail::Failed;
use crate::files;

pub(crate) async fn run(arguments: Apply, stop: Deadline) -> ExitCode {
    match apply(&arguments, &stop).await {
        Ok(ApplyOutcome::Applied { statements }) => {
            match arguments.output {
                Output::Json => println!(
                    "{}",
                    serde_json::json!({"outcome": "applied", "statements": statements})
                ),
                Output::Sql => {}
                Output::Text => println!("applied {statements} statements"),
            }
            ExitCode::SUCCESS
        }
        Ok(ApplyOutcome::NothingCommitted { failure }) => {
            eprintln!("nothing was committed");
            Failed::from(failure).print(arguments.output)
        }
        Ok(ApplyOutcome::Uncertain {
            mut failure,
            statements_done,
        }) => {
            eprintln!(
                "the outcome is uncertain after {statements_done} confirmed statements; plan again to see what is left"
            );
            // Whatever the cause, it is a person who must look now.
            failure.class = ptah_contract::failure::FailureClass::Attention;
            Failed::from(failure).print(arguments.output)
        }
        Err(failed) => failed.print(arguments.output),
    }
}

async fn apply(arguments: &Apply, stop: &Deadline) -> Result<ApplyOutcome, Failed> {
    let document = std::fs::read(&arguments.plan).map_err(|error| {
        Failed::input(
            "plan_malformed",
            format!("the plan cannot be read: {}", error.kind()),
        )
    })?;
    let digest = Digest::of(&document);
    let plan = read_plan(&document, digest)?;
    let target = files::target(&arguments.database.database_url_file)?;
    // Whoever runs this has read the plan; what the policy had to say was said when it was made.
    let mut policy = SchemaPolicy {
        allow_destructive: true,
        transaction_mode: plan.transaction_mode,
        exclude: plan.exclude.clone(),
        ..SchemaPolicy::default()
    };
    if let Some(timeout) = arguments.lock_timeout {
        policy.lock_timeout = timeout;
    }
    Ok(ptah_engine::apply(&target, &document, digest, &policy, async || Ok(()), stop).await)
}
