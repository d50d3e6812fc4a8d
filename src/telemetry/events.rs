//! Events on a schema.

use kube::Client;
use kube::Resource as _;
use kube::runtime::events::{Event, EventType, Recorder, Reporter};
use ptah_api::PtahSchema;

use crate::lifecycle::step::Notice;

/// The API server refuses longer notes.
const MAX_NOTE_BYTES: usize = 1000;

/// Writes an Event.
///
/// # Errors
/// When the API server refuses.
pub async fn emit(client: &Client, schema: &PtahSchema, notice: &Notice) -> Result<(), kube::Error> {
    let reporter = Reporter {
        controller: "ptah-schema-controller".to_owned(),
        instance: None,
    };
    let mut note = notice.note.clone();
    while note.len() > MAX_NOTE_BYTES {
        note.pop();
    }
    let event = Event {
        type_: if notice.warning {
            EventType::Warning
        } else {
            EventType::Normal
        },
        reason: notice.reason.to_owned(),
        note: Some(note),
        action: "Reconcile".to_owned(),
        secondary: None,
    };
    Recorder::new(client.clone(), reporter)
        .publish(&event, &schema.object_ref(&()))
        .await
        .map(|_| ())
}
