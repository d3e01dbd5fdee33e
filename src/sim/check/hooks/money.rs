//! Checks the money that hooks moved, by the service's own books.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{HookedEvent, MerchantBooks, minor_amount};
use crate::base::hash::Mark;
use crate::model::events::hook_run::DEPTH_MAX;
use crate::sim::actors::sandbox_control::text;
use crate::sim::check::laws::Violation;
use crate::sim::hooks::script_texts::{
    CREDIT_AMOUNT, CREDITED, EARLY, ECHO, FULL_REFUND, LATE, LATE_REFUND, NOTIFIED,
    PARTIAL_AMOUNTS, PARTIAL_REFUNDS, SKIP, START, VOID,
};

/// Returns the refunds that scripts make for a payment of this amount.
fn expected_refunds(amount: i64) -> &'static [i64] {
    match amount {
        FULL_REFUND => &[FULL_REFUND],
        PARTIAL_REFUNDS => &PARTIAL_AMOUNTS,
        LATE => &[LATE_REFUND],
        _ => &[],
    }
}

/// Checks that each payment is refunded as the scripts request, each part once.
pub(super) fn check_refunds(books: &MerchantBooks<'_>, found: &mut Vec<Violation>) {
    for amount in [FULL_REFUND, PARTIAL_REFUNDS, CREDITED, VOID, ECHO, NOTIFIED, LATE] {
        for HookedEvent { event, data, due, .. } in books.payments(amount) {
            let charge = text(data, "id");
            let made = books.transactions("REFUND").filter(|one| text(one, "charge_id") == charge);
            let mut made: Vec<i64> = made.map(minor_amount).collect();
            made.sort_unstable();
            let wanted = expected_refunds(amount);
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
                let text = format!(
                    "the refunds of {charge} are {made:?}, not {wanted:?}: {}",
                    books.describe_state(event)
                );
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
    found: &mut Vec<Violation>,
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
pub(super) fn check_credits(books: &MerchantBooks<'_>, found: &mut Vec<Violation>) {
    let made =
        books.transactions("CREDIT").filter(|one| minor_amount(one) == CREDIT_AMOUNT).count();
    let mut all = books.payments(CREDITED);
    let unsettled = all.iter().filter(|one| books.is_excused(one.event, false));
    let held: BTreeSet<String> = unsettled.map(|one| method_id(one.data).to_owned()).collect();
    for one in &mut all {
        one.due &= !held.contains(method_id(one.data));
    }
    check_count(books, ("credits", made), &all, (1, 1), found);
}

/// Returns the id of the method that paid.
fn method_id(payment: &Value) -> &str {
    payment.pointer("/method/id").and_then(Value::as_str).unwrap_or_default()
}

/// Checks that each payment is echoed until its chain of causes has the maximum length. A lost
/// state may have begun the chain.
pub(super) fn check_chains(books: &MerchantBooks<'_>, found: &mut Vec<Violation>) {
    let marked = |one: &Value| Mark::find_in(text(one, "reference")).is_some();
    let made =
        books.transactions("CHARGE").filter(|one| minor_amount(one) == ECHO && marked(one)).count();
    let all = books.payments(ECHO);
    // Echoes after one that was refused or waits for a person are not required.
    let whole = all.iter().all(|one| one.due || ends_chain(books, one));
    let roots: Vec<HookedEvent<'_>> = all.into_iter().filter(|one| !marked(one.data)).collect();
    let depth = usize::try_from(DEPTH_MAX).unwrap_or(usize::MAX);
    let most = depth.saturating_mul(books.evidence.lost.len().saturating_add(1));
    let least = if whole { depth } else { 0 };
    check_count(books, ("echoes", made), &roots, (most, least), found);
}

/// Returns true if no echo follows this one, since its chain has the maximum length.
fn ends_chain(books: &MerchantBooks<'_>, one: &HookedEvent<'_>) -> bool {
    let mine = books.runs.iter().filter(|ran| ran.event == one.event);
    books.complete && mine.into_iter().any(|ran| super::is_too_deep(ran))
}

/// Checks that exactly the payments that a script voids are voided.
pub(super) fn check_voids(books: &MerchantBooks<'_>, found: &mut Vec<Violation>) {
    for amount in [FULL_REFUND, PARTIAL_REFUNDS, CREDITED, VOID, NOTIFIED, LATE] {
        for HookedEvent { event, data, due, .. } in books.payments(amount) {
            let id = text(data, "id");
            let is_void = |one: &Value| text(one, "id") == id && text(one, "status") == "VOIDED";
            let voided = books.transactions("CHARGE").any(is_void);
            if voided && amount != VOID {
                books.violate("law 5", &format!("{id} was voided"), found);
            } else if due && !voided && amount == VOID {
                books.violate(
                    "hooks",
                    &format!("{id} was not voided: {}", books.describe_state(event)),
                    found,
                );
            }
        }
    }
}

/// Checks that the first occurrence is paid or skipped once, and that no other changes.
pub(super) fn check_occurrences(books: &MerchantBooks<'_>, found: &mut Vec<Violation>) {
    for (amount, wanted) in [(EARLY, "PAID"), (SKIP, "IGNORED")] {
        let fits = |data: &Value| minor_amount(data) == amount;
        for HookedEvent { event, data, due, .. } in
            books.matching_events("recurring_charge.occurrence.created", fits)
        {
            let id = text(data, "id");
            let mut all = books.evidence.objects.occurrences.iter();
            let now = all.find(|one| text(one, "id") == id).map_or("", |one| text(one, "status"));
            let paid = books
                .transactions("CHARGE")
                .filter(|one| text(one, "recurring_charge_occurrence_id") == id)
                .count();
            let first = text(data, "due_date") == START;
            let most = usize::from(first && amount == EARLY);
            if paid > most || (!first && now != "PENDING") {
                let text = format!("occurrence {id} is {now}, and was paid {paid} times");
                books.violate("law 5", &text, found);
            } else if first && due && now != wanted {
                let text = format!(
                    "occurrence {id} is {now}, not {wanted}: {}",
                    books.describe_state(event)
                );
                books.violate("hooks", &text, found);
            }
        }
    }
}
