//! Checks that a damaged journal never opens as if it were complete.

use std::sync::Arc;

use super::laws::Violation;
use crate::sim::machine::journal_decoder::DurableRecord;
use crate::sim::machine::process::{Machine, copy};
use crate::store::disk::traits::Disk;
use crate::store::journal::log::Journal;
use crate::store::journal::open::JournalOptions;

/// Number of damaged bytes, each on a copy of its own.
const TRIES: u32 = 4;

/// Damages records before the last one on copies of the journal, and reports each copy that opens.
pub(crate) fn check_damage(
    machine: &mut Machine,
    entries: &[DurableRecord],
    found: &mut Vec<Violation>,
) {
    let last = entries.last().map(|entry| entry.sequence);
    let followed: Vec<&DurableRecord> =
        entries.iter().filter(|one| Some(one.sequence) != last).collect();
    for _ in 0..TRIES {
        let Some(entry) = machine.dice().pick(&followed).copied() else {
            return;
        };
        let (file, begins, ends) = &entry.place;
        let width = u64::try_from(ends.saturating_sub(*begins)).unwrap_or(0);
        let begins = u64::try_from(*begins).unwrap_or(0);
        let at = begins.saturating_add(machine.dice().below(width));
        let damaged = copy(&machine.journal);
        let byte = damaged.read_at(file, at, 1).ok().and_then(|bytes| bytes.first().copied());
        let written = damaged.write_at(file, at, &[byte.unwrap_or(0) ^ 0x55]);
        let opened = Journal::open(Arc::new(damaged), JournalOptions::default());
        if written.is_ok() && opened.is_ok() {
            let text = format!(
                "record {} is damaged in byte {at} of {file}, and the journal opens",
                entry.sequence
            );
            found.push(Violation::new("journal", text));
        }
    }
}
