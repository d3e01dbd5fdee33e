//! Books of one merchant's hooks, and the check of the money that they moved, by the service's own
//! books.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::base::hash::Mark;
use crate::model::effect::Action;
use crate::model::events::hook::{ActionRequest, NOTIFY};
use crate::model::events::hook_run::{ActionOutcome, ActionRequestId, DEPTH_MAX, HookRunRecord};
use crate::model::intent::IntentState;
use crate::model::record::Record;
use crate::sim::check::events::{EventEvidence, MerchantEvents};
use crate::sim::check::evidence::{RunEvidence, Violation, Violations};
use crate::sim::plan::hook_scripts::{
    CREDIT_AMOUNT, CREDITED, EARLY, ECHO, FULL_REFUND, LATE, LATE_REFUND, NOTIFIED,
    PARTIAL_AMOUNTS, PARTIAL_REFUNDS, SKIP, START, VOID,
};
use crate::sim::service::control::{find, minor_amount, text};
use crate::store::read_model::model::ReadModel;

pub(crate) fn hook_runs<'a>(all: &EventEvidence<'a>) -> Vec<&'a HookRunRecord> {
    let runs = all.entries.iter().filter_map(|entry| {
        if let Record::HooksRun(ran) = &entry.record { Some(&**ran) } else { None }
    });
    runs.collect()
}

/// Returns the actions that the scripts of a run requested.
pub(crate) fn requests(ran: &HookRunRecord) -> impl Iterator<Item = &ActionRequest> {
    ran.runs.iter().flat_map(|run| &run.requests)
}

pub(crate) fn action_id(ran: &HookRunRecord, wish: &ActionRequest) -> ActionRequestId {
    let (merchant, event) = (ran.merchant.clone(), ran.event.clone());
    ActionRequestId { merchant, event, name: wish.name.clone() }
}

/// Returns the outcome of an action from the journal, since the index may have dropped it.
pub(crate) fn outcome_of(all: &EventEvidence<'_>, id: &ActionRequestId) -> Option<ActionOutcome> {
    all.entries.iter().rev().find_map(|entry| {
        let Record::ActionSettled(granted) = &entry.record else { return None };
        (granted.id == *id).then_some(granted.outcome)
    })
}

pub(crate) struct MerchantBooks<'a> {
    pub(crate) evidence: &'a RunEvidence<'a>,
    pub(crate) all: &'a EventEvidence<'a>,
    pub(crate) own: MerchantEvents<'a>,
    pub(crate) merchant: &'a str,
    pub(crate) runs: &'a [&'a HookRunRecord],
    pub(crate) complete: bool,
}

/// An event that hooks answer.
pub(crate) struct HookedEvent<'a> {
    pub(crate) event: &'a str,
    pub(crate) data: &'a Value,
    /// Set if all its actions with money must be finished.
    pub(crate) due: bool,
    /// Set if all its notifications must have arrived.
    pub(crate) notified: bool,
}

impl<'a> MerchantBooks<'a> {
    /// Checks that hooks ran only on events that the service has.
    pub(crate) fn check_genuine(&self, found: &mut Violations) {
        let mine = self.runs.iter().filter(|ran| ran.merchant.name.as_str() == self.merchant);
        for ran in mine.filter(|ran| !self.own.events.contains_key(ran.event.as_str())) {
            let text = format!("hooks ran on {}, which {} never had", ran.event, self.merchant);
            found.push(Violation::new("law 3", text));
        }
    }

    pub(crate) fn matching_events(
        &self,
        kind: &str,
        fits: impl Fn(&Value) -> bool,
    ) -> Vec<HookedEvent<'a>> {
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

    pub(crate) fn payments(&self, amount: i64) -> Vec<HookedEvent<'a>> {
        let fits = |data: &Value| text(data, "type") == "CHARGE" && minor_amount(data) == amount;
        self.matching_events("transaction.authorized", fits)
    }

    /// Returns true if the journal excuses missing actions of an event, or missing notifications if
    /// the flag is set: one was refused, or waits for a person.
    pub(crate) fn is_excused(&self, event: &str, told: bool) -> bool {
        let Some(known) = self.all.known else { return false };
        let refused = self.runs_on(event).any(|ran| {
            let not_done = |wish: &ActionRequest| {
                let outcome = outcome_of(self.all, &action_id(ran, wish));
                outcome.is_some_and(|outcome| outcome != ActionOutcome::Done)
            };
            let mut wishes = requests(ran).filter(|wish| (wish.verb == NOTIFY) == told);
            wishes.any(not_done) || is_too_deep(ran)
        });
        refused || is_waiting(known, (self.merchant, event), told)
    }

    pub(crate) fn describe_state(&self, event: &str) -> String {
        let mut told = Vec::new();
        for ran in self.runs_on(event) {
            for wish in requests(ran) {
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
    pub(crate) fn transactions(&self, kind: &'a str) -> impl Iterator<Item = &'a Value> {
        let (all, merchant) = (&self.evidence.objects.transactions, self.merchant);
        all.iter().filter(move |one| {
            text(one, "merchant") == merchant
                && text(one, "type") == kind
                && text(one, "status") != "FAILED"
        })
    }

    pub(crate) fn violate(&self, law: &'static str, text: &str, found: &mut Violations) {
        found.push(Violation::new(law, format!("{text} at {}", self.merchant)));
    }

    fn runs_on(&self, event: &str) -> impl Iterator<Item = &'a HookRunRecord> {
        let mine = move |ran: &&HookRunRecord| {
            ran.event == event && ran.merchant.name.as_str() == self.merchant
        };
        self.runs.iter().copied().filter(mine)
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

/// Checks that each payment is refunded as the scripts request, each part once.
pub(crate) fn check_refunds(books: &MerchantBooks<'_>, found: &mut Violations) {
    for amount in [FULL_REFUND, PARTIAL_REFUNDS, CREDITED, VOID, ECHO, NOTIFIED, LATE] {
        let wanted: &[i64] = match amount {
            FULL_REFUND => &[FULL_REFUND],
            PARTIAL_REFUNDS => &PARTIAL_AMOUNTS,
            LATE => &[LATE_REFUND],
            _ => &[],
        };
        for HookedEvent { event, data, due, .. } in books.payments(amount) {
            let charge = text(data, "id");
            let made = books.transactions("REFUND").filter(|one| text(one, "charge_id") == charge);
            let mut made: Vec<i64> = made.map(minor_amount).collect();
            made.sort_unstable();
            if made == wanted {
                continue;
            }
            let too_much = made.iter().any(|one| !wanted.contains(one))
                || made.windows(2).any(|pair| pair.first() == pair.last());
            if too_much {
                let text = format!(
                    "the refunds of {charge} are {made:?}, and the scripts requested {wanted:?}"
                );
                books.violate("law 5", &text, found);
            } else if due {
                let state = books.describe_state(event);
                let text = format!("the refunds of {charge} are {made:?}, not {wanted:?}: {state}");
                books.violate("hooks", &text, found);
            }
        }
    }
}

/// Checks the number `made` of objects against the payments that request between `least` and `most`
/// of them each.
fn check_count(
    books: &MerchantBooks<'_>,
    (what, made): (&str, usize),
    asked: &[HookedEvent<'_>],
    (most, least): (usize, usize),
    found: &mut Violations,
) {
    let due = asked.iter().filter(|one| one.due).count();
    if made > asked.len().saturating_mul(most) {
        let text = format!("{made} {what}, and {} payments request {most} each", asked.len());
        books.violate("law 5", &text, found);
    } else if made < due.saturating_mul(least) {
        let states: Vec<String> = asked.iter().map(|one| books.describe_state(one.event)).collect();
        let text = format!("{made} {what}, and {due} payments request {least} each: {states:?}");
        books.violate("hooks", &text, found);
    }
}

/// Checks that each payment of [`CREDITED`] gets one credit. A credit waits behind an equal one of
/// the same method that a person must resolve, since the two may be indistinguishable.
pub(crate) fn check_credits(books: &MerchantBooks<'_>, found: &mut Violations) {
    let ours = |one: &&Value| minor_amount(one) == CREDIT_AMOUNT;
    let made = books.transactions("CREDIT").filter(ours).count();
    let mut all = books.payments(CREDITED);
    let unsettled = all.iter().filter(|one| books.is_excused(one.event, false));
    let held: BTreeSet<String> = unsettled.map(|one| method_id(one.data).to_owned()).collect();
    for one in &mut all {
        one.due &= !held.contains(method_id(one.data));
    }
    check_count(books, ("credits", made), &all, (1, 1), found);
}

fn method_id(payment: &Value) -> &str {
    payment.pointer("/method/id").and_then(Value::as_str).unwrap_or_default()
}

/// Checks that each payment is echoed until its chain of causes has the maximum length. A lost
/// state may have begun the chain.
pub(crate) fn check_chains(books: &MerchantBooks<'_>, found: &mut Violations) {
    let marked = |one: &Value| Mark::find_in(text(one, "reference")).is_some();
    let made =
        books.transactions("CHARGE").filter(|one| minor_amount(one) == ECHO && marked(one)).count();
    let all = books.payments(ECHO);
    // Echoes after one that was refused or waits for a person are not required.
    let is_last = |event: &str| {
        books.complete && books.runs.iter().any(|ran| ran.event == event && is_too_deep(ran))
    };
    let whole = all.iter().all(|one| one.due || is_last(one.event));
    let roots: Vec<HookedEvent<'_>> = all.into_iter().filter(|one| !marked(one.data)).collect();
    let depth = usize::try_from(DEPTH_MAX).unwrap_or(usize::MAX);
    let most = depth.saturating_mul(books.evidence.lost.len().saturating_add(1));
    let least = if whole { depth } else { 0 };
    check_count(books, ("echoes", made), &roots, (most, least), found);
}

/// Checks that exactly the payments that a script voids are voided.
pub(crate) fn check_voids(books: &MerchantBooks<'_>, found: &mut Violations) {
    for amount in [FULL_REFUND, PARTIAL_REFUNDS, CREDITED, VOID, NOTIFIED, LATE] {
        for HookedEvent { event, data, due, .. } in books.payments(amount) {
            let id = text(data, "id");
            let is_void = |one: &Value| text(one, "id") == id && text(one, "status") == "VOIDED";
            let voided = books.transactions("CHARGE").any(is_void);
            if voided && amount != VOID {
                books.violate("law 5", &format!("{id} was voided"), found);
            } else if due && !voided && amount == VOID {
                let text = format!("{id} was not voided: {}", books.describe_state(event));
                books.violate("hooks", &text, found);
            }
        }
    }
}

/// Checks that the first occurrence is paid or skipped once, and that no other changes.
pub(crate) fn check_occurrences(books: &MerchantBooks<'_>, found: &mut Violations) {
    for (amount, wanted) in [(EARLY, "PAID"), (SKIP, "IGNORED")] {
        let fits = |data: &Value| minor_amount(data) == amount;
        for HookedEvent { event, data, due, .. } in
            books.matching_events("recurring_charge.occurrence.created", fits)
        {
            let id = text(data, "id");
            let now = find(&books.evidence.objects.occurrences, "id", id);
            let now = now.map_or("", |one| text(one, "status"));
            let pays = |one: &&Value| text(one, "recurring_charge_occurrence_id") == id;
            let paid = books.transactions("CHARGE").filter(pays).count();
            let first = text(data, "due_date") == START;
            let most = usize::from(first && amount == EARLY);
            if paid > most || (!first && now != "PENDING") {
                let text = format!("occurrence {id} is {now}, and was paid {paid} times");
                books.violate("law 5", &text, found);
            } else if first && due && now != wanted {
                let state = books.describe_state(event);
                let text = format!("occurrence {id} is {now}, not {wanted}: {state}");
                books.violate("hooks", &text, found);
            }
        }
    }
}
