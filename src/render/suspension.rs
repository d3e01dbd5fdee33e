//! Renders the result of `suspend` or `resume` for people.

use super::words::clean;
use crate::model::operator::suspension::SuspensionResult;

/// Renders the result in one sentence.
pub fn text(paused: &SuspensionResult) -> String {
    match paused {
        SuspensionResult::Suspended(suspension) => format!("{}\n", clean(&suspension.to_string())),
        SuspensionResult::Resumed { key, still: _ } => {
            format!("{} was resumed\n", clean(&key.short()))
        }
        SuspensionResult::NotSuspended { key, still: _ } => {
            format!("{} was not suspended\n", clean(&key.short()))
        }
        SuspensionResult::Unknown { key, nearest: _ } => {
            format!("no such resource: {}\n", clean(&key.short()))
        }
    }
}
