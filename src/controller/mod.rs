//! The driver of schemas: gather evidence, call the lifecycle, carry the step out, in that order.

mod carry_out;
mod context;
#[cfg(feature = "failpoints")]
mod failpoint;
mod gather;
mod run;
mod watch;

pub use context::{Context, Installation};
pub use run::run;

use kube::Client;
use kube::runtime::Controller;
use ptah_api::PtahSchema;

/// The controller of every schema that this client may see; [`run`] runs it.
#[must_use]
pub fn of(client: &Client) -> Controller<PtahSchema> {
    Controller::new(kube::Api::all(client.clone()), watch::config())
}
