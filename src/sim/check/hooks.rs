//! Checks hooks. Each action happens once at the service, for each real event and for no other.
//! Each notification is sent once. A stored value is the one that the runs stored. No chain of
//! causes is too long.
//!
//! The expected actions are derived from the service's own events and amounts, and compared with
//! its own books. The checks skip:
//! - events before the first poll, and those of the last minutes;
//! - missing actions of a merchant that is not connected at the end, or in a run that was cut
//!   short; repeated actions are always reported;
//! - actions that the journal records as refused or on hold.

mod money;
pub mod notification_laws;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::events::{EventEvidence, MerchantEvents, is_connected};
use super::laws::{RunEvidence, Violation};
use crate::model::events::hook::{ActionRequest, NOTIFY};
use crate::model::events::hook_run::{ActionOutcome, ActionRequestId, HookRunRecord};
use crate::model::intents::intent::IntentState;
use crate::model::operator::action::{Action, is_action};
use crate::model::record::Record;
use crate::sim::actors::sandbox_control::text;
use crate::sim::hooks::notifier::SimDelivery;
use crate::sim::hooks::script_texts::ECHO;
use crate::sim::net::receivers::key_of;
use crate::store::read_model::model::ReadModel;

/// Prefix of the names of hooks' actions in the journal.
const HOOK: &str = "hook-";

/// Returns every violation by hooks.
pub(in crate::sim) fn check_hooks(
    evidence: &RunEvidence<'_>,
    all: &EventEvidence<'_>,
    tries: &[SimDelivery],
    complete: bool,
) -> Vec<Violation> {
    let mut found = Vec::new();
    if evidence.script.hooks.is_none() || evidence.script.net.gateway.is_none() {
        return found;
    }
    let ran = hook_runs(all);
    check_action_names(evidence, &ran, &mut found);
    notification_laws::check_stored_values(all, &ran, &mut found);
    let mut texts = BTreeSet::new();
    for merchant in all.merchants {
        let own = all.merchant_events(merchant);
        let complete = complete && is_connected(evidence, merchant);
        let books = MerchantBooks { evidence, all, own, merchant, runs: &ran, complete };
        books.check_genuine(&mut found);
        money::check_refunds(&books, &mut found);
        money::check_credits(&books, &mut found);
        money::check_chains(&books, &mut found);
        money::check_voids(&books, &mut found);
        money::check_occurrences(&books, &mut found);
        notification_laws::check_notifications(&books, tries, &mut texts, &mut found);
    }
    notification_laws::check_unexpected(tries, &texts, &mut found);
    found
}

/// Counts the finished actions of hooks by verb, and the failed hook runs.
pub(in crate::sim) fn count_actions(all: &EventEvidence<'_>) -> BTreeMap<String, u32> {
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    let mut one = |what: String| {
        let count = counts.entry(what).or_default();
        *count = count.saturating_add(1);
    };
    for ran in hook_runs(all) {
        for wish in ran.runs.iter().flat_map(|run| &run.requests) {
            let granted = action_outcome(all, &action_id(ran, wish));
            if granted == Some(ActionOutcome::Done) {
                one(wish.verb.clone());
            }
        }
        ran.failures.iter().for_each(|_| one("failed".to_owned()));
    }
    counts
}

/// Returns every hook run in the journal, in order.
fn hook_runs<'a>(all: &EventEvidence<'a>) -> Vec<&'a HookRunRecord> {
    let one = |entry: &'a crate::sim::machine::journal_decoder::DurableRecord| {
        if let Record::HooksRun(ran) = &entry.record { Some(&**ran) } else { None }
    };
    all.entries.iter().filter_map(one).collect()
}

fn action_id(ran: &HookRunRecord, wish: &ActionRequest) -> ActionRequestId {
    let (merchant, event) = (ran.merchant.clone(), ran.event.clone());
    ActionRequestId { merchant, event, name: wish.name.clone() }
}

/// Returns the outcome of an action from the journal, since the index may have dropped it.
fn action_outcome(all: &EventEvidence<'_>, id: &ActionRequestId) -> Option<ActionOutcome> {
    all.entries.iter().rev().find_map(|entry| {
        let Record::ActionSettled(granted) = &entry.record else { return None };
        (granted.id == *id).then_some(granted.outcome)
    })
}

/// Checks that every action of a hook is named by its event and its own name.
fn check_action_names(
    evidence: &RunEvidence<'_>,
    ran: &[&HookRunRecord],
    found: &mut Vec<Violation>,
) {
    let wishes = ran.iter().flat_map(|ran| {
        ran.runs
            .iter()
            .flat_map(|run| &run.requests)
            .filter_map(|wish| action_id(ran, wish).action_name().ok())
    });
    let names: BTreeSet<String> = wishes.map(|name| name.to_string()).collect();
    for story in evidence.histories.iter().filter(|story| is_action(&story.intent.key)) {
        let name = story.intent.key.name.as_str();
        if name.starts_with(HOOK) && !names.contains(name) {
            let text = format!("{name} is an action of a hook, and no hook requested it");
            found.push(Violation::new("hooks", text));
        }
    }
}

/// Events, hook runs and service objects of one merchant.
struct MerchantBooks<'a> {
    evidence: &'a RunEvidence<'a>,
    all: &'a EventEvidence<'a>,
    own: MerchantEvents<'a>,
    merchant: &'a str,
    runs: &'a [&'a HookRunRecord],
    complete: bool,
}

/// An event that hooks answer.
struct HookedEvent<'a> {
    event: &'a str,
    data: &'a Value,
    /// Set if all its actions with money must be finished.
    due: bool,
    /// Set if all its notifications must have arrived.
    notified: bool,
}

impl<'a> MerchantBooks<'a> {
    /// Checks that hooks ran only on events that the service has.
    fn check_genuine(&self, found: &mut Vec<Violation>) {
        let mine = self.runs.iter().filter(|ran| ran.merchant.name.as_str() == self.merchant);
        for ran in mine.filter(|ran| !self.own.events.contains_key(ran.event.as_str())) {
            let text = format!("hooks ran on {}, which {} never had", ran.event, self.merchant);
            found.push(Violation::new("law 3", text));
        }
    }

    /// Returns the events of a type whose objects fit.
    fn matching_events(&self, kind: &str, fits: impl Fn(&Value) -> bool) -> Vec<HookedEvent<'a>> {
        let mut asked = Vec::new();
        for (id, event) in &self.own.events {
            let Some(data) = event.get("data").filter(|data| fits(data)) else { continue };
            if text(event, "type") == kind {
                let due = self.complete && self.own.is_due(event, self.all.now);
                asked.push(HookedEvent {
                    event: id,
                    data,
                    due: due && !self.is_excused(id, false),
                    notified: due && !self.is_excused(id, true),
                });
            }
        }
        asked
    }

    /// Returns the payments of an amount.
    fn payments(&self, amount: i64) -> Vec<HookedEvent<'a>> {
        let fits = |data: &Value| text(data, "type") == "CHARGE" && minor_amount(data) == amount;
        self.matching_events("transaction.authorized", fits)
    }

    /// Returns true if the journal excuses missing actions of an event, or missing notifications if
    /// the flag is set: one was refused, or waits for a person.
    fn is_excused(&self, event: &str, told: bool) -> bool {
        let Some(known) = self.all.known else { return false };
        let mine = |ran: &&&HookRunRecord| {
            ran.event == event && ran.merchant.name.as_str() == self.merchant
        };
        let refused = self.runs.iter().filter(mine).any(|ran| {
            let mut wishes = ran.runs.iter().flat_map(|run| &run.requests);
            let fate = |wish: &ActionRequest| action_outcome(self.all, &action_id(ran, wish));
            let not_done = |wish: &ActionRequest| {
                (wish.verb == NOTIFY) == told
                    && fate(wish).is_some_and(|fate| fate != ActionOutcome::Done)
            };
            wishes.any(not_done) || is_too_deep(ran)
        });
        refused || is_waiting(known, (self.merchant, event), told)
    }

    /// Describes the state of everything that an event requests.
    fn describe_state(&self, event: &str) -> String {
        let mine = |ran: &&&HookRunRecord| {
            ran.event == event && ran.merchant.name.as_str() == self.merchant
        };
        let mut told = Vec::new();
        for ran in self.runs.iter().filter(mine) {
            for wish in ran.runs.iter().flat_map(|run| &run.requests) {
                let id = action_id(ran, wish);
                let fate = self.all.known.and_then(|known| known.action_result(&id).ok().flatten());
                let open = id.action_name().ok().and_then(|name| {
                    let key = Action::key(wish.merchant.as_ref()?, &name);
                    self.all.known?.open_intent(&key).ok().flatten()
                });
                let fate = fate.map(|fate| format!("{:?}: {}", fate.outcome, fate.message));
                told.push(format!("{} {:?} {:?}", wish.name, fate, open.map(|open| open.state)));
            }
            told.extend(ran.failures.iter().map(|one| format!("{}: {}", one.script, one.message)));
        }
        told.join("; ")
    }

    /// Returns the merchant's successful transactions of one type.
    fn transactions(&self, kind: &'a str) -> impl Iterator<Item = &'a Value> {
        let (all, merchant) = (&self.evidence.objects.transactions, self.merchant);
        all.iter().filter(move |one| {
            text(one, "merchant") == merchant
                && text(one, "type") == kind
                && text(one, "status") != "FAILED"
        })
    }

    fn violate(&self, law: &'static str, text: &str, found: &mut Vec<Violation>) {
        found.push(Violation::new(law, format!("{} at {}", text, self.merchant)));
    }
}

/// Returns true if one of an event's actions waits for a person.
fn is_waiting(known: &ReadModel, (merchant, event): (&str, &str), told: bool) -> bool {
    let all = known.all_pending().unwrap_or_default();
    let mine = all.iter().filter(|one| one.id.merchant.name.as_str() == merchant);
    mine.filter(|one| one.id.event == event && (one.request.verb == NOTIFY) == told).any(|one| {
        let open = one.action().ok().and_then(|action| known.open_intent(&action).ok()?);
        one.maybe_done || open.is_some_and(|open| matches!(open.state, IntentState::OnHold { .. }))
    })
}

fn is_too_deep(ran: &HookRunRecord) -> bool {
    ran.failures.iter().any(|failed| failed.message.contains("chain"))
}

/// Returns true if a script requested this charge of the ledger: only scripts charge this amount
/// with a mark.
pub(crate) fn is_requested_charge(evidence: &RunEvidence<'_>, entry: &Value) -> bool {
    evidence.script.hooks.is_some() && minor_amount(entry) == ECHO
}

fn minor_amount(object: &Value) -> i64 {
    object.get("amount").and_then(Value::as_i64).unwrap_or(0)
}

/// Returns the key under which a script counts the merchant's events.
fn counter_key(merchant: &str) -> String {
    key_of(merchant).map_or_else(String::new, |_| format!("seen-{merchant}"))
}
