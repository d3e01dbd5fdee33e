//! Reads the remainder of a recurring charge whose document was removed: its status, where the
//! service shows it, and the occurrences that may still be collected (gateway-api, GET
//! …/occurrences; service-facts, 56 and 57).
//!
//! Only this reading establishes that a charge is over: none of its occurrences is pending, and it
//! cannot open a new one. The reading's `about` names the moment, so that no effect rests on an old
//! reading.

use serde_json::{Value, json};

use super::cancel::{charge_and_occurrences, is_over, may_be_collected};
use crate::base::fault_injection;
use crate::effects::core::context::put;
use crate::effects::core::expect;
use crate::effects::core::row::{
    Learned, ReadingCx, ReadingError, ReadingRow, RemoteAnswer, RemoteQuery,
};

/// Reading of a recurring charge that is to end, about `{charge, ended, …}`: its id, and whether
/// its last day was set.
pub const RECURRING_STATE: &str = "recurring.look";

pub(crate) const ROW: ReadingRow = ReadingRow { name: RECURRING_STATE, queries, learn };

fn queries(about: &Value) -> Vec<RemoteQuery> {
    charge_and_occurrences(expect::text(about, "charge"))
}

fn learn(cx: &ReadingCx<'_>, answers: &[RemoteAnswer]) -> Result<Learned, ReadingError> {
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
    let pending: Vec<Value> =
        all.iter().filter(|one| may_be_collected(one)).map(stored_occurrence).collect();
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
    Ok(Learned { exists: true, facts, ..Learned::default() })
}

/// Returns the facts of a charge that collects nothing more.
fn ended_charge(status: Option<&str>, how: &str) -> Learned {
    let mut facts = json!({"looked": null, "next_payment": null, "ended": how});
    if let Some(status) = status {
        put(&mut facts, "status", status);
    }
    Learned { exists: false, facts, ..Learned::default() }
}

/// Returns the stored fields of an occurrence.
fn stored_occurrence(occurrence: &Value) -> Value {
    let field = |name: &str| occurrence.get(name).cloned().unwrap_or_default();
    json!({
        "id": field("id"), "due_date": field("due_date"), "amount": field("amount"),
        "status": field("status"), "attempts": field("attempts"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::id::{Key, Mode};
    use crate::effects::testing::{items, no_path};

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
        let learned = learn(&cx, &[charge, occurrences]).unwrap();
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
