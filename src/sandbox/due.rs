//! Timers: a queue ordered by moment, processed before every request.
//!
//! An entry is a hint: its handler reads the object's current state, so entries are not removed
//! when an object changes.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::sandbox::applications::decide;
use crate::sandbox::events::millis;
use crate::sandbox::refusal::Refusal;
use crate::sandbox::state::{Cx, ordered};
use crate::sandbox::transactions::{self, Change};
use crate::sandbox::{expiry, files, occurrences, tokens};

/// An entry of the queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Due {
    /// A one-time token's five minutes are over.
    TokenExpiry { id: String },
    /// The daily run captures a charge.
    Capture { id: String },
    /// A hold's seven days are over.
    HoldEnd { id: String },
    /// An occurrence is to be paid.
    Occurrence { id: String },
    /// The sandbox decides on an application.
    Decision { id: String },
    /// The outcome of a test application is notified.
    TestOutcome { id: u64, reference: String, provisioned: bool },
    /// The processing of an uploaded file ends.
    FileProcessed { id: String },
    /// The card of a recurring charge expires in this month, or expired in the last.
    Expiry { id: String, expired: bool },
    /// A saved card expires in this month, or expired in the last.
    SavedExpiry { id: String, expired: bool },
}

pub(crate) const QUEUE: &str = "due/";

/// Adds an entry to the queue; a past moment becomes now.
pub(crate) fn schedule(cx: &mut Cx<'_>, time: DateTime<Utc>, due: &Due) -> Result<(), Refusal> {
    let at = cx.next();
    let time = time.max(cx.now);
    cx.put(&format!("{QUEUE}{}/{}", millis(time), ordered(at)), due)
}

/// Parses the moment of a queue key.
pub(crate) fn moment_of(key: &str) -> Option<DateTime<Utc>> {
    let text = key.strip_prefix(QUEUE)?.split('/').next()?;
    DateTime::from_timestamp_millis(i64::from_str_radix(text, 16).ok()?)
}

/// Runs one entry; the change happens at the entry's moment.
pub(crate) fn happen(cx: &mut Cx<'_>, key: &str, due: &Due) -> Result<(), Refusal> {
    cx.remove(key);
    match due {
        Due::TokenExpiry { id } => tokens::end(cx, id),
        Due::Capture { id } => transactions::fall_due(cx, id, Change::Capture),
        Due::HoldEnd { id } => transactions::fall_due(cx, id, Change::Expire),
        Due::Occurrence { id } => occurrences::fall_due(cx, id),
        Due::Decision { id } => decide::fall_due(cx, id),
        Due::TestOutcome { id, reference, provisioned } => {
            decide::tested(cx, *id, reference, *provisioned)
        }
        Due::FileProcessed { id } => files::processed(cx, id),
        Due::Expiry { id, expired } => expiry::fall_due(cx, id, *expired),
        Due::SavedExpiry { id, expired } => expiry::saved_falls_due(cx, id, *expired),
    }
}
