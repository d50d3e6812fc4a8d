//! What the product costs, in tables: plan time and memory by the number of tables, and what the manager costs by the
//! number of resources. `cargo xtask bench` prepares the node and runs this.
//!
//! Nothing here is a test: figures are of one machine on one day. Ratios and counts are what to compare.

// A failed step ends the measurement; its text is all that anybody needs.
#![allow(clippy::unwrap_used)]

mod hollow;
mod manager;
mod plan;

use anyhow::Result;
use clap::Parser;

/// Measures, and prints tables in Markdown.
#[derive(Parser)]
struct Arguments {
    /// Numbers of resources for the manager's table.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 20, 200, 1000])]
    resources: Vec<usize>,
    /// Numbers of tables for the plan's table.
    #[arg(long, value_delimiter = ',', default_values_t = [100, 1000, 5000])]
    tables: Vec<usize>,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    println!("## Plans\n");
    println!("| Tables | Changes | Seconds | Statements | Peak memory of the runner |");
    println!("| ---: | --- | ---: | ---: | ---: |");
    for tables in arguments.tables {
        for row in plan::measure(tables)? {
            println!("{row}");
        }
    }
    println!("\n## The manager\n");
    println!(
        "Real operations up to {} resources; beyond, Pods are not scheduled and an honest stub delivers in their stead.\n",
        manager::REAL
    );
    println!(
        "| Resources | Seconds to a published plan (median, 95 %, last) | Requests each | Jobs a refresh | Requests a refresh \
         | Status writes a refresh | CPU while refreshing | Memory (peak) | Idle: requests an hour |"
    );
    println!("| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for resources in arguments.resources {
        println!("{}", manager::measure(resources)?);
    }
    Ok(())
}
