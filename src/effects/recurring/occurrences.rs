//! Occurrences of a recurring charge: one is paid now or excluded from automatic collection, and
//! those that are left are read after the charge's document was removed (gateway-api,
//! …/occurrences; service-facts, 56 and 57).
//!
//! The occurrence can be read, so a lookup settles a lost answer. An occurrence that was paid
//! meanwhile was not ignored, and its money was collected: the requester reads again. Only the
//! reading establishes that a charge is over: none of its occurrences is pending, and it cannot
//! open a new one. The reading's `about` names the moment, so that no effect rests on an old
//! reading.

use serde_json::{Value, json};

use crate::api::call::Call;
use crate::api::recurring::{GetOccurrence, IgnoreOccurrence, PayOccurrence};
use crate::base::fault_injection;
use crate::base::id::RemoteId;
use crate::base::money::Money;
use crate::effects::core::context::{EffectContext, copy_fields, set_field, set_optional};
use crate::effects::core::evidence::declined;
use crate::effects::core::expect::{self, text};
use crate::effects::core::row::{
    Baseline, EffectRow, Isolation, Learned, LookupResult, ReadingCx, ReadingError, ReadingRow,
    RemoteAnswer, RemoteQuery,
};
use crate::effects::recurring::end::{charge_and_occurrences, is_over, may_be_collected};
use crate::model::effect::Effect;
use crate::model::intent::Intent;

/// Pays an occurrence; `amount` is its expected amount.
pub fn pay(
    cx: EffectContext,
    recurring: &RemoteId,
    occurrence: &RemoteId,
    amount: Money,
) -> Effect {
    let path = [recurring.as_str(), occurrence.as_str()];
    cx.effect::<PayOccurrence>(OCCURRENCE_PAY.name, &path, Value::Null)
        .targeting(occurrence)
        .with_subject(json!({"recurring": recurring}))
        .expecting("id", occurrence.as_str())
        .expecting("amount", amount.minor())
        .expecting("status", "PAID")
}

fn read_occurrence(recurring: &Value, occurrence: Option<&RemoteId>) -> RemoteQuery {
    let path = [text(recurring, "recurring"), occurrence.map_or("", RemoteId::as_str)];
    RemoteQuery::one(Call::to::<GetOccurrence>(&path))
}

fn before(effect: &Effect) -> Vec<RemoteQuery> {
    vec![read_occurrence(&effect.subject, effect.target.as_ref())]
}

fn keep(answers: &[RemoteAnswer]) -> Value {
    let Some(RemoteAnswer::Body(now)) = answers.first() else { return Value::Null };
    json!({"status": now.get("status"), "attempts": now.get("attempts"), "amount": now.get("amount")})
}

/// Refuses an occurrence that is paid already, or has another amount.
fn refuse(effect: &Effect, before: &Value) -> Option<String> {
    let (now, asked) = (before.get("amount")?, effect.expect.get("amount")?);
    if now != asked {
        return Some(format!(
            "the occurrence's amount is {}, not {asked}, in minor units",
            expect::render_value(now)
        ));
    }
    (text(before, "status") == "PAID").then(|| "the occurrence is paid already".to_owned())
}

const NOT_FOUND: &str = "the occurrence cannot be found any more";

fn judge_payment(intent: &Intent, answers: &[RemoteAnswer]) -> LookupResult {
    let Some(RemoteAnswer::Body(now)) = answers.first() else {
        return LookupResult::inconclusive(NOT_FOUND);
    };
    let attempts = |one: &Value| one.get("attempts").and_then(Value::as_i64);
    match (text(now, "status"), attempts(&intent.baseline), attempts(now)) {
        ("PAID", _, _) => LookupResult::Applied(now.clone()),
        ("PAYING", _, _) => LookupResult::inconclusive("the occurrence is being paid"),
        (_, Some(before), Some(after)) if before == after => LookupResult::NotFound,
        // No baseline was read, and no payment was ever attempted.
        (_, None, Some(0)) => LookupResult::NotFound,
        (_, Some(_), Some(_)) => {
            declined(last_attempt(now).unwrap_or(&Value::Null), "The payment was declined")
        }
        _ => LookupResult::inconclusive("the occurrence does not tell its attempts"),
    }
}

fn last_attempt(occurrence: &Value) -> Option<&Value> {
    occurrence.get("transactions")?.as_array()?.last()
}

const STORED_FIELDS: [&str; 5] =
    ["status", "amount", "attempts", "due_date", "recurring_charge_id"];

fn learn_payment(_: &Intent, reply: &Value) -> Result<Learned, String> {
    let mut facts = json!({});
    copy_fields(&mut facts, reply, &STORED_FIELDS);
    set_field(
        &mut facts,
        "transaction",
        json!(last_attempt(reply).and_then(|last| last.get("id"))),
    );
    Learned::object(reply, facts)
}

pub(crate) const OCCURRENCE_PAY: EffectRow = EffectRow::looked_up::<PayOccurrence>(
    "occurrence.pay",
    Isolation::PerObject,
    |intent| vec![read_occurrence(&intent.subject, intent.target.as_ref())],
    judge_payment,
    learn_payment,
)
.with_baseline(Baseline { queries: before, keep, refuse });

/// Ignores an occurrence of a recurring charge. The obligation names the merchant and the
/// requesting resource.
pub fn ignore_occurrence(cx: EffectContext, charge: &RemoteId, occurrence: &RemoteId) -> Effect {
    let path = [charge.as_str(), occurrence.as_str()];
    let effect = cx.effect::<IgnoreOccurrence>(OCCURRENCE_SKIP.name, &path, Value::Null);
    effect
        .targeting(occurrence)
        .with_subject(json!({"charge": charge, "occurrence": occurrence}))
        .expecting("id", occurrence.as_str())
        .expecting("status", "IGNORED")
}

fn judge_skip(_: &Intent, answers: &[RemoteAnswer]) -> LookupResult {
    let Some(RemoteAnswer::Body(occurrence)) = answers.first() else {
        return LookupResult::inconclusive(NOT_FOUND);
    };
    match text(occurrence, "status") {
        "IGNORED" => LookupResult::Applied(occurrence.clone()),
        "PENDING" | "PAID" | "FAILED" => LookupResult::NotFound,
        _ => LookupResult::Inconclusive(format!(
            "the occurrence is {}",
            expect::render_field(occurrence, "status")
        )),
    }
}

pub(crate) const OCCURRENCE_SKIP: EffectRow = EffectRow::looked_up::<IgnoreOccurrence>(
    "occurrence.ignore",
    Isolation::PerObject,
    |intent| {
        let path = [text(&intent.subject, "charge"), text(&intent.subject, "occurrence")];
        vec![RemoteQuery::one(Call::to::<GetOccurrence>(&path))]
    },
    judge_skip,
    // The resource is the charge, or a command: its own id is not the occurrence's.
    |_, _| Ok(Learned::existing(json!({ "looked": null }))),
);

/// Reading of a recurring charge that is to end, about `{charge, ended, …}`: its id, and whether
/// its last day was set.
pub const RECURRING_STATE: &str = "recurring.look";

pub(crate) const STATE_ROW: ReadingRow = ReadingRow {
    name: RECURRING_STATE,
    queries: |about| charge_and_occurrences(text(about, "charge")),
    learn: learn_state,
};

fn learn_state(cx: &ReadingCx<'_>, answers: &[RemoteAnswer]) -> Result<Learned, ReadingError> {
    let [charge, occurrences] = answers else {
        return Err(ReadingError::RetryLater("the service was not asked".to_owned()));
    };
    let status = match charge {
        RemoteAnswer::Body(charge) => charge.get("status").and_then(Value::as_str),
        RemoteAnswer::Missing(_) if charge.is_unknown_path() => None,
        RemoteAnswer::Missing(_) => {
            return Ok(ended_charge(Some("DELETED"), "the service has it no more"));
        }
        RemoteAnswer::Items(_) => None,
    };
    let RemoteAnswer::Items(all) = occurrences else {
        let why = "the service does not show the occurrences of the recurring charge";
        return Err(ReadingError::RetryLater(why.to_owned()));
    };
    let stored = |occurrence: &Value| {
        let mut stored = json!({});
        copy_fields(&mut stored, occurrence, &["id", "due_date", "amount", "status", "attempts"]);
        stored
    };
    let pending: Vec<Value> = all.iter().filter(|one| may_be_collected(one)).map(stored).collect();
    let ended = cx.about.get("ended").is_some_and(|ended| *ended == Value::Bool(true));
    let cannot_go_on = ended || status.map_or(!all.is_empty(), is_over);
    let silent =
        pending.is_empty() || fault_injection::is_active("neutralise-leaves-an-occurrence");
    if silent && cannot_go_on {
        let how =
            if ended { "its last day was set and what was pending ignored" } else { "it is over" };
        let before = cx.observed.and_then(|observed| observed.text("ended"));
        return Ok(ended_charge(status, before.unwrap_or(how)));
    }
    let facts = json!({"looked": {"about": cx.about, "status": status, "pending": pending}});
    Ok(Learned::existing(facts))
}

/// Returns the facts of a charge that collects nothing more.
fn ended_charge(status: Option<&str>, how: &str) -> Learned {
    let mut facts = json!({"looked": null, "next_payment": null, "ended": how});
    set_optional(&mut facts, "status", status);
    Learned { facts, ..Learned::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::id::{Key, Mode};
    use crate::effects::testing::{intent, items, judged, no_path};

    #[test]
    fn a_lost_answer_is_settled_by_the_occurrence() {
        let check = |answer: RemoteAnswer| {
            judged(&intent(OCCURRENCE_SKIP.name, &json!({}), Value::Null), &[answer])
        };
        let body = |status: &str| RemoteAnswer::Body(json!({"id": "o1", "status": status}));
        assert_eq!(check(body("IGNORED")), "happened o1");
        for not in ["PENDING", "PAID", "FAILED"] {
            assert_eq!(check(body(not)), "absent", "{not}");
        }
        assert_eq!(check(body("PAYING")), "unknown: the occurrence is PAYING");
        assert!(check(no_path()).starts_with("unknown"));
    }

    /// Returns whether the charge still exists, and the number of occurrences that may still fire.
    fn check(ended: bool, charge: RemoteAnswer, occurrences: RemoteAnswer) -> (bool, usize) {
        let key: Key = "RecurringCharge/default/it".parse().unwrap();
        let about = json!({"charge": "ch1", "ended": ended});
        let cx = ReadingCx {
            key: &key,
            mode: Mode::Test,
            generation: 0,
            observed: None,
            about: &about,
            knows_mark: &|_| true,
        };
        let learned = learn_state(&cx, &[charge, occurrences]).unwrap();
        let pending = learned.facts["looked"]["pending"].as_array().map_or(0, Vec::len);
        (learned.exists, pending)
    }

    #[test]
    fn it_is_over_only_when_nothing_may_fire_and_nothing_can_open() {
        let body = |status: &str| RemoteAnswer::Body(json!({"id": "ch1", "status": status}));
        let list = |status: &str| items(&json!([{"id": "o1", "status": status}]));
        assert_eq!(check(false, body("ACTIVE"), list("PENDING")), (true, 1));
        assert_eq!(check(false, body("COMPLETED"), list("PENDING")), (true, 1));
        assert_eq!(check(true, no_path(), list("PENDING")), (true, 1), "it would fire");
        assert_eq!(check(true, no_path(), list("PAYING")), (true, 1));
        assert_eq!(check(false, body("ACTIVE"), list("IGNORED")), (true, 0));
        assert_eq!(check(false, no_path(), items(&json!([]))), (true, 0));
        for (ended, charge) in
            [(true, no_path()), (true, body("ACTIVE")), (false, body("COMPLETED"))]
        {
            assert_eq!(check(ended, charge, list("IGNORED")), (false, 0));
        }
    }
}
