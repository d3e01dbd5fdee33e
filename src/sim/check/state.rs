//! Checks of the state: a damaged journal never opens as if it were complete, a compaction changes
//! no known fact, and no view of the running engine is older than a record.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::evidence::Violation;
use crate::engine::protocol::queries::intents::IntentsView;
use crate::engine::protocol::queries::metrics::Metrics;
use crate::engine::protocol::queries::views::ResourceView;
use crate::model::intents::intent::IntentState;
use crate::sim::machine::journal_decoder::DurableRecord;
use crate::sim::machine::process::{Machine, copy};
use crate::store::disk::traits::Disk;
use crate::store::journal::log::Journal;
use crate::store::journal::open::JournalOptions;
use crate::store::read_model::model::{ReadModel, ReadModelError};

/// Compacts copies of the disks and compares the states.
pub(crate) async fn check_compaction(machine: &Machine, found: &mut Vec<Violation>) {
    let mut wrong = |text: String| found.push(Violation::new("journal", text));
    match machine.compact_copies().await {
        Err(error) => wrong(format!("the state cannot be compacted: {error}")),
        Ok(Some([before, after])) => {
            if before.digest != after.digest {
                wrong("a compaction changed the known facts".to_owned());
            }
            for (value, opened) in &before.values {
                let opens = after.values.get(value).copied().unwrap_or("is not known");
                if opens != *opened {
                    wrong(format!(
                        "a value {opened} before a compaction, and {opens} after it: {value}"
                    ));
                }
            }
        }
        Ok(None) => {}
    }
}

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

/// Views of one moment.
#[derive(Debug)]
pub(crate) struct ViewSnapshot {
    /// Intents that are not closed.
    pub(crate) intents: IntentsView,
    pub(crate) metrics: Metrics,
    /// Every resource.
    pub(crate) resources: Vec<ResourceView>,
}

/// Compares views with the fold, which did not change meanwhile.
pub(crate) fn check_views(
    facts: &ReadModel,
    asked: &ViewSnapshot,
) -> Result<Vec<Violation>, ReadModelError> {
    let mut found = Vec::new();
    let mut wrong = |text: String| found.push(Violation::new("views", text));
    let mut states: BTreeMap<&str, u64> = BTreeMap::new();
    let open = facts.open_intents()?;
    for one in &open {
        let count = states.entry(one.state.word()).or_default();
        *count = count.saturating_add(1);
        let (id, state) = (one.intent.id.to_string(), one.state.word());
        let shown = asked.intents.items.iter().find(|item| item.id == id);
        if shown.is_none_or(|item| item.state != state || item.attempts != one.state.attempt()) {
            wrong(format!("{id} is {state}, and intents shows {shown:?}"));
        }
        let key = &one.intent.key;
        let view = asked.resources.iter().find(|view| view.is_of(key));
        if let Some(view) =
            view.filter(|view| view.reason != intent_reason(&one.state) || view.ready)
        {
            let text = format!(
                "{} is {state}, and get shows {} (ready: {})",
                key, view.reason, view.ready
            );
            wrong(text);
        }
    }
    let shown = asked.intents.items.len();
    if shown != open.len() || asked.metrics.overview.open_intents != open.len() {
        let counted = asked.metrics.overview.open_intents;
        wrong(format!("{} intents are open; intents shows {shown}, status {counted}", open.len()));
    }
    for (state, (count, _)) in &asked.metrics.intents {
        if states.get(state.as_str()).copied().unwrap_or(0) != *count {
            wrong(format!("metrics count {count} intents as {state}, and the fold has {states:?}"));
        }
    }
    Ok(found)
}

/// Returns the reason that an intent gives its resource.
fn intent_reason(state: &IntentState) -> &'static str {
    match state {
        IntentState::Open { .. } | IntentState::Closed => "InFlight",
        IntentState::InDoubt { .. } => "InDoubt",
        IntentState::OnHold { .. } => "Held",
    }
}
