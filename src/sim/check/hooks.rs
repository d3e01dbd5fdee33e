//! Checks the notifications of hooks, and the values that hooks store.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::effect::is_action;
use crate::model::events::hook_run::{ActionOutcome, HookRunRecord};
use crate::sim::check::events::{EventEvidence, is_connected};
use crate::sim::check::evidence::{RunEvidence, Violation, Violations};
use crate::sim::check::hook_books::{
    self, MerchantBooks, action_id, hook_runs, outcome_of, requests,
};
use crate::sim::plan::hook_scripts::{LATE, NOTIFIED};
use crate::sim::plan::parts::add;
use crate::sim::service::control::text;
use crate::sim::service::notifier::SimDelivery;

pub(crate) fn check_hooks(
    evidence: &RunEvidence<'_>,
    all: &EventEvidence<'_>,
    tries: &[SimDelivery],
    complete: bool,
) -> Violations {
    let mut found = Vec::new();
    if evidence.script.hooks.is_none() || evidence.script.net.gateway.is_none() {
        return found;
    }
    let ran = hook_runs(all);
    check_action_names(evidence, &ran, &mut found);
    check_stored_values(all, &ran, &mut found);
    let mut texts = BTreeSet::new();
    for merchant in all.merchants {
        let own = all.merchant_events(merchant);
        let complete = complete && is_connected(evidence, merchant);
        let books = MerchantBooks { evidence, all, own, merchant, runs: &ran, complete };
        books.check_genuine(&mut found);
        hook_books::check_refunds(&books, &mut found);
        hook_books::check_credits(&books, &mut found);
        hook_books::check_chains(&books, &mut found);
        hook_books::check_voids(&books, &mut found);
        hook_books::check_occurrences(&books, &mut found);
        check_notifications(&books, tries, &mut texts, &mut found);
    }
    // Every event may cause the notification `unrelated`.
    for one in tries.iter().filter(|one| one.text != "unrelated" && !texts.contains(&one.text)) {
        let text = format!("`{}` arrived, and no event requests it", one.text);
        found.push(Violation::new("told", text));
    }
    found
}

/// Counts the finished actions of hooks by verb, and the failed hook runs.
pub(crate) fn count_actions(all: &EventEvidence<'_>) -> BTreeMap<String, u32> {
    let mut counts = BTreeMap::new();
    for ran in hook_runs(all) {
        for wish in requests(ran) {
            if outcome_of(all, &action_id(ran, wish)) == Some(ActionOutcome::Done) {
                add(&mut counts, wish.verb.clone(), 1);
            }
        }
        for _ in &ran.failures {
            add(&mut counts, "failed".to_owned(), 1);
        }
    }
    counts
}

/// Checks that every action of a hook is named by its event and its own name.
fn check_action_names(evidence: &RunEvidence<'_>, ran: &[&HookRunRecord], found: &mut Violations) {
    let ids = ran.iter().flat_map(|ran| requests(ran).map(|wish| action_id(ran, wish)));
    let names = ids.filter_map(|id| id.action_name().ok());
    let names: BTreeSet<String> = names.map(|name| name.to_string()).collect();
    for story in evidence.histories.iter().filter(|story| is_action(&story.intent.key)) {
        let name = story.intent.key.name.as_str();
        if name.starts_with("hook-") && !names.contains(name) {
            let text = format!("{name} is an action of a hook, and no hook requested it");
            found.push(Violation::new("hooks", text));
        }
    }
}

/// Checks that each notification arrives once; one that was refused or is in doubt may be missing.
/// Collects the texts that may arrive.
fn check_notifications(
    books: &MerchantBooks<'_>,
    tries: &[SimDelivery],
    texts: &mut BTreeSet<String>,
    found: &mut Violations,
) {
    // Once for each state that began empty.
    let begun = books.evidence.lost.iter().filter(|lost| lost.last_kept.is_none()).count();
    let most = begun.saturating_add(1);
    for asked in books.payments(NOTIFIED).into_iter().chain(books.payments(LATE)) {
        let id = text(asked.data, "id");
        for text in [format!("paid {id}"), format!("once more {id}")] {
            let arrived = tries.iter().filter(|one| one.arrived && one.text == text).count();
            if arrived > most {
                books.violate("told", &format!("`{text}` arrived {arrived} times"), found);
            } else if arrived == 0 && asked.notified {
                let text = format!("`{text}` never arrived (event {})", asked.event);
                books.violate("told", &text, found);
            }
            texts.insert(text);
        }
    }
}

/// Checks that a script's stored value is the last one that its runs stored, and that each run
/// counted one more.
fn check_stored_values(all: &EventEvidence<'_>, ran: &[&HookRunRecord], found: &mut Violations) {
    let Some(known) = all.known else { return };
    // A script counts the merchant's events under this key.
    let keys: BTreeSet<String> = all.merchants.iter().map(|one| format!("seen-{one}")).collect();
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
