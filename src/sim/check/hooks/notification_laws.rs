//! Checks the notifications of hooks, and the values that hooks store.

use std::collections::{BTreeMap, BTreeSet};

use super::{EventEvidence, MerchantBooks, counter_key};
use crate::model::events::hook_run::HookRunRecord;
use crate::sim::actors::sandbox_control::text;
use crate::sim::check::laws::Violation;
use crate::sim::hooks::notifier::SimDelivery;
use crate::sim::hooks::script_texts::{LATE, NOTIFIED};

/// Text of the notification that every event may cause.
const UNRELATED: &str = "unrelated";

/// Checks that each notification arrives once; one that was refused or is in doubt may be missing.
/// Collects the texts that may arrive.
pub(super) fn check_notifications(
    books: &MerchantBooks<'_>,
    tries: &[SimDelivery],
    texts: &mut BTreeSet<String>,
    found: &mut Vec<Violation>,
) {
    for asked in books.payments(NOTIFIED).into_iter().chain(books.payments(LATE)) {
        let id = text(asked.data, "id");
        for text in [format!("paid {id}"), format!("once more {id}")] {
            let arrived = tries.iter().filter(|one| one.arrived && one.text == text).count();
            if arrived > max_arrivals(books) {
                books.violate("told", &format!("`{text}` arrived {arrived} times"), found);
            } else if arrived == 0 && asked.notified {
                let text = format!("`{text}` never arrived (event {})", asked.event);
                books.violate("told", &text, found);
            }
            texts.insert(text);
        }
    }
}

/// Returns the most arrivals of one text: one for each state that began empty.
fn max_arrivals(books: &MerchantBooks<'_>) -> usize {
    let begun = books.evidence.lost.iter().filter(|lost| lost.last_kept.is_none()).count();
    begun.saturating_add(1)
}

/// Checks that no other text arrives.
pub(super) fn check_unexpected(
    tries: &[SimDelivery],
    texts: &BTreeSet<String>,
    found: &mut Vec<Violation>,
) {
    for one in tries.iter().filter(|one| one.text != UNRELATED && !texts.contains(&one.text)) {
        let text = format!("`{}` arrived, and no event requests it", one.text);
        found.push(Violation::new("told", text));
    }
}

/// Checks that a script's stored value is the last one that its runs stored, and that each run
/// counted one more.
pub(super) fn check_stored_values(
    all: &EventEvidence<'_>,
    ran: &[&HookRunRecord],
    found: &mut Vec<Violation>,
) {
    let Some(known) = all.known else { return };
    let keys: BTreeSet<String> = all.merchants.iter().map(|one| counter_key(one)).collect();
    let mut counted: BTreeMap<(&str, &str), i64> = BTreeMap::new();
    for run in ran.iter().flat_map(|ran| &ran.runs) {
        for (key, value) in run.kept.iter().filter(|(key, _)| keys.contains(key)) {
            let count = counted.entry((&run.script, key)).or_default();
            *count = count.saturating_add(1);
            if value.as_i64() != Some(*count) {
                let text = format!("run {count} of {} stores {value} under {key}", run.script);
                found.push(Violation::new("hooks", text));
            }
        }
    }
    for ((script, key), count) in counted {
        let kept = known.stored_value(script, key).unwrap_or_default();
        if kept.as_i64() != Some(count) {
            let text = format!("{script} has {kept} under {key}, after {count} runs");
            found.push(Violation::new("hooks", text));
        }
    }
}
