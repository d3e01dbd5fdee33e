//! What became of a word to suspend or resume, for people.

use super::words::clean;
use crate::model::suspension::Paused;

/// One sentence.
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
