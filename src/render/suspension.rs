//! Renders the result of `suspend` or `resume` for people.

use super::words::clean;
use crate::model::suspension::Paused;

/// Renders the result in one sentence.
pub fn text(paused: &Paused) -> String {
    match paused {
        Paused::Suspended(suspension) => format!("{}\n", clean(&suspension.to_string())),
        Paused::Resumed { key, still: _ } => format!("{} was resumed\n", clean(&key.short())),
        Paused::NotSuspended { key, still: _ } => {
            format!("{} was not suspended\n", clean(&key.short()))
        }
        Paused::Unknown { key, nearest: _ } => {
            format!("nothing is called {}\n", clean(&key.short()))
        }
    }
}
