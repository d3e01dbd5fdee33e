//! Timers: a queue ordered by moment, processed before every request.
//!
//! An entry is a hint: its handler reads the object's current state, so entries are not removed
//! when an object changes.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::events::millis;
use super::store::{ChangeUnit, sortable_key};
use crate::sandbox::http::refusal::SandboxRefusal;
use crate::sandbox::invoicing::files;
use crate::sandbox::methods::{expiry, tokens};
use crate::sandbox::onboarding::decide;
use crate::sandbox::payments::transactions;
use crate::sandbox::payments::transactions::TransactionTransition;
use crate::sandbox::recurring::occurrences;

/// An entry of the queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum TimerEntry {
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
pub(crate) fn schedule(
    cx: &mut ChangeUnit<'_>,
    time: DateTime<Utc>,
    due: &TimerEntry,
) -> Result<(), SandboxRefusal> {
    let at = cx.next();
    let time = time.max(cx.now);
    cx.put(&format!("{QUEUE}{}/{}", millis(time), sortable_key(at)), due)
}

/// Parses the moment of a queue key.
pub(crate) fn moment_of(key: &str) -> Option<DateTime<Utc>> {
    let text = key.strip_prefix(QUEUE)?.split('/').next()?;
    DateTime::from_timestamp_millis(i64::from_str_radix(text, 16).ok()?)
}

/// Runs one entry; the change happens at the entry's moment.
pub(crate) fn run_entry(
    cx: &mut ChangeUnit<'_>,
    key: &str,
    due: &TimerEntry,
) -> Result<(), SandboxRefusal> {
    cx.remove(key);
    match due {
        TimerEntry::TokenExpiry { id } => tokens::end(cx, id),
        TimerEntry::Capture { id } => {
            transactions::run_scheduled(cx, id, TransactionTransition::Capture)
        }
        TimerEntry::HoldEnd { id } => {
            transactions::run_scheduled(cx, id, TransactionTransition::Expire)
        }
        TimerEntry::Occurrence { id } => occurrences::run_due_payment(cx, id),
        TimerEntry::Decision { id } => decide::run_due_decision(cx, id),
        TimerEntry::TestOutcome { id, reference, provisioned } => {
            decide::send_test_outcome(cx, *id, reference, *provisioned)
        }
        TimerEntry::FileProcessed { id } => files::finish_processing(cx, id),
        TimerEntry::Expiry { id, expired } => expiry::run_due_charge(cx, id, *expired),
        TimerEntry::SavedExpiry { id, expired } => expiry::run_due_saved(cx, id, *expired),
    }
}
