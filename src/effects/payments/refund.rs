//! Refunds a charge, all of it or a part (gateway-api, POST /v1/charges/{chargeId}/refund).
//!
//! No reference is documented, so a charge has one refund open at a time. The mark goes into
//! `data`, which a server may ignore. The charge's refunds and its `amount_refunded` settle a lost
//! answer, else REFUND events do.

use serde_json::{Value, json};

use crate::api::transaction_action::RefundCharge;
use crate::base::id::RemoteId;
use crate::base::money::Money;
use crate::effects::core::context::{EffectContext, set_optional};
use crate::effects::core::evidence::{declined, new_event_data, not_visible, was_looked_up_first};
use crate::effects::core::expect::{self, text};
use crate::effects::core::row::{Baseline, EffectRow, Isolation, LookupResult, RemoteAnswer};
use crate::effects::payments::{TRANSACTION_BASELINE, learn, queries};
use crate::model::effect::Effect;
use crate::model::intent::Intent;

/// Field of `data` that holds the mark.
const MARK: &str = "reckon";

/// Refunds `amount` of a charge: to the method that paid, or to another one of its type, where the
/// tenant allows that (service-facts, 54).
pub fn refund(cx: EffectContext, charge: &RemoteId, amount: Money, method: Option<&str>) -> Effect {
    let mut body = json!({"amount": amount.minor(), "currency": amount.currency(),
        "data": {MARK: cx.source_id.mark()}});
    set_optional(&mut body, "method", method);
    cx.effect::<RefundCharge>(ROW.name, &[charge.as_str()], body)
        .targeting(charge)
        .expecting("type", "REFUND")
        .expecting("amount", amount.minor())
        .expecting("currency", amount.currency().code())
        .expecting("charge_id", charge.as_str())
}

/// Refuses to send a refund beyond the remainder of the charge, or in another currency.
fn refuse(effect: &Effect, before: &Value) -> Option<String> {
    let now = before.get("target")?;
    let number = |field: &str| now.get(field).and_then(Value::as_i64);
    let asked = effect.expect.get("amount").and_then(Value::as_i64)?;
    let left = number("amount")?.checked_sub(number("amount_refunded").unwrap_or(0))?;
    if now.get("currency").is_some_and(|one| Some(one) != effect.expect.get("currency")) {
        return Some(format!("the charge is in {}", expect::render_field(now, "currency")));
    }
    (asked > left).then(|| format!("only {left} of the charge are left to refund, in minor units"))
}

fn judge(intent: &Intent, answers: &[RemoteAnswer]) -> LookupResult {
    let [charge, events, _] = answers else {
        return LookupResult::not_asked();
    };
    match (charge, intent.baseline.get("target")) {
        (RemoteAnswer::Body(charge), Some(before)) => by_charge(intent, charge, before),
        (RemoteAnswer::Body(charge), None) if was_looked_up_first(intent) => {
            by_marks(intent, charge)
        }
        (RemoteAnswer::Missing(_), _) if charge.is_unknown_path() => by_events(intent, events),
        _ => LookupResult::inconclusive("the charge cannot be read, or was not before"),
    }
}

/// Judges by the charge, which shows its refunds: those that are new.
fn by_charge(intent: &Intent, charge: &Value, before: &Value) -> LookupResult {
    let known = before.get("refunds").and_then(Value::as_array);
    let is_new =
        |one: &&Value| !known.is_some_and(|known| known.iter().any(|id| Some(id) == one.get("id")));
    let new: Vec<&Value> = refunds(charge).filter(is_new).collect();
    let same = refunded_sum(charge) == refunded_sum(before);
    match judge_new_refunds(intent, &new) {
        Some(finding) => finding,
        None if same || refunded_sum(charge) == valid_refunds_sum(charge) => LookupResult::NotFound,
        None => LookupResult::inconclusive(
            "the charge's amount_refunded changed, and no refund shows it",
        ),
    }
}

/// Judges without a baseline: a refund with the intent's mark is ours. None exists if the other
/// refunds explain the whole refunded sum.
fn by_marks(intent: &Intent, charge: &Value) -> LookupResult {
    let all: Vec<&Value> = refunds(charge).collect();
    match judge_new_refunds(intent, &all) {
        Some(finding) => finding,
        None if refunded_sum(charge) == valid_refunds_sum(charge) => LookupResult::NotFound,
        None => LookupResult::inconclusive("the charge does not show all of its refunds"),
    }
}

fn refunds(charge: &Value) -> impl Iterator<Item = &Value> {
    charge.get("refunds").and_then(Value::as_array).into_iter().flatten()
}

fn refunded_sum(charge: &Value) -> Option<i64> {
    charge
        .get("amount_refunded")
        .map_or(Some(0), |amount| amount.as_i64().or(amount.is_null().then_some(0)))
}

/// Sums the charge's valid refunds: one may have been voided meanwhile, or its money returned.
fn valid_refunds_sum(charge: &Value) -> Option<i64> {
    let fell = |one: &&Value| matches!(text(one, "status"), "VOIDED" | "FAILED");
    let mut amounts =
        refunds(charge).filter(|one| !fell(one)).map(|one| one.get("amount")?.as_i64());
    amounts.try_fold(0_i64, |sum, amount| sum.checked_add(amount?))
}

/// Judges by events, where the service shows no single transactions: refunds of this charge that
/// events report.
fn by_events(intent: &Intent, events: &RemoteAnswer) -> LookupResult {
    let target = intent.target.as_ref().map_or("", RemoteId::as_str);
    let of_charge =
        |one: &&Value| text(one, "type") == "REFUND" && text(one, "charge_id") == target;
    let mut new: Vec<&Value> = Vec::new();
    for one in new_event_data(intent, events, "transaction.").into_iter().filter(of_charge) {
        new.retain(|known| known.get("id") != one.get("id"));
        new.push(one);
    }
    judge_new_refunds(intent, &new).unwrap_or_else(|| {
        not_visible(events, "this service shows no single charge, and no event reports this refund")
    })
}

/// Judges the new refunds of the charge; `None` if there are none.
fn judge_new_refunds(intent: &Intent, new: &[&Value]) -> Option<LookupResult> {
    let mark = |one: &Value| one.pointer("/data/reckon").cloned();
    let ours: Vec<&&Value> =
        new.iter().filter(|one| mark(one) == Some(json!(intent.mark))).collect();
    let unmarked: Vec<&&Value> = new.iter().filter(|one| mark(one).is_none()).collect();
    let amount = |one: &Value| one.get("amount") == intent.expect.get("amount");
    Some(match (ours.as_slice(), unmarked.as_slice()) {
        ([one], _) => judge_refund(one),
        ([], []) => return None,
        ([], [one]) if amount(one) && !was_looked_up_first(intent) => judge_refund(one),
        _ => LookupResult::inconclusive(
            "new refunds of the charge carry no mark, and none is surely this one",
        ),
    })
}

fn judge_refund(refund: &Value) -> LookupResult {
    if text(refund, "status") == "FAILED" {
        return declined(refund, "The refund failed");
    }
    LookupResult::Applied(refund.clone())
}

pub(crate) const ROW: EffectRow = EffectRow::looked_up::<RefundCharge>(
    "charge.refund",
    Isolation::PerObject,
    queries,
    judge,
    learn,
)
.with_baseline(Baseline { refuse, ..TRANSACTION_BASELINE });

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effects::testing::intent;

    /// Judges a refund of 300 that is in doubt, of a charge that had one refund of 200.
    fn found(charge: &Value) -> LookupResult {
        let expect = json!({"amount": 300});
        let before = json!({"target": {"refunds": ["old"], "amount_refunded": 200}});
        let answers = [
            RemoteAnswer::Body(charge.clone()),
            RemoteAnswer::Items(vec![]),
            RemoteAnswer::Items(vec![]),
        ];
        judge(&intent(ROW.name, &expect, before), &answers)
    }

    #[test]
    fn what_the_refunds_that_still_stand_explain_is_no_refund_of_ours() {
        let old = |status: &str| json!({"id": "old", "status": status, "amount": 200});
        for (status, sum) in [("COMPLETED", 200), ("VOIDED", 0), ("FAILED", 0)] {
            let charge = json!({"amount_refunded": sum, "refunds": [old(status)]});
            assert!(matches!(found(&charge), LookupResult::NotFound), "{status}");
        }
        for (status, sum) in [("COMPLETED", 500), ("VOIDED", 300)] {
            let charge = json!({"amount_refunded": sum, "refunds": [old(status)]});
            assert!(
                matches!(found(&charge), LookupResult::Inconclusive(_)),
                "{status}: a sum without its refund"
            );
        }
    }

    #[test]
    fn after_a_restore_a_refund_is_known_by_its_mark_alone() {
        let looked = |charge: &Value| {
            let intent = intent(ROW.name, &json!({"amount": 300}), json!({"looked_first": true}));
            let answers = [
                RemoteAnswer::Body(charge.clone()),
                RemoteAnswer::Items(vec![]),
                RemoteAnswer::Items(vec![]),
            ];
            (judge(&intent, &answers), intent.mark)
        };
        let mark = looked(&json!({})).1;
        let of = |data: Value| {
            let refund = json!({"id": "r", "status": "AUTHORIZED", "amount": 300, "data": data});
            looked(&json!({"amount_refunded": 300, "refunds": [refund]})).0
        };
        assert!(matches!(of(json!({"reckon": mark})), LookupResult::Applied(_)));
        assert!(matches!(of(json!({"reckon": "another"})), LookupResult::NotFound));
        assert!(
            matches!(of(json!(null)), LookupResult::Inconclusive(_)),
            "a refund without a mark may be of any origin"
        );
        assert!(matches!(looked(&json!({"amount_refunded": 0})).0, LookupResult::NotFound));
    }
}
