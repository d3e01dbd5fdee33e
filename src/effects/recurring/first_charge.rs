//! Creates a charge that starts a recurring charge (gateway-api, POST /v1/charges with `recur`).
//!
//! No idempotency key guards it. The mark is in the charge's `reference` and in the description of
//! the recurring charge. The transactions that carry the mark settle a lost answer, and so do
//! events. Absence is confirmed only where the service lists both transactions and recurring
//! charges. A decline that is found is a refusal: no recurring charge exists, and the method is not
//! tried again.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::api::call::Call;
use crate::api::recurring::ListRecurring;
use crate::api::transaction::{CreateCharge, SearchTransactions};
use crate::effects::core::context::{EffectContext, copy_fields, set_field};
use crate::effects::core::evidence::{
    NEWEST_EVENT, declined, event_data, events_since, new_event_data,
};
use crate::effects::core::expect::{self, text};
use crate::effects::core::row::{
    EffectRow, Isolation, Learned, LookupResult, RemoteAnswer, RemoteQuery,
};
use crate::effects::recurring::{ENDING_FACTS, carries};
use crate::model::effect::Effect;
use crate::model::intent::Intent;

/// Charges now and starts a recurring charge. `body` is complete but for description and reference.
pub fn charge_now(cx: EffectContext, mut body: Value, text: &str) -> Effect {
    let mark = cx.source_id.mark();
    set_field(&mut body, "reference", json!(mark));
    set_field(&mut body, "auto_capture", true);
    if let Some(recur) = body.get_mut("recur") {
        set_field(recur, "description", json!(mark.tag(text)));
    }
    let asked = body.clone();
    let effect = cx.effect::<CreateCharge>(ROW.name, &[], body);
    let fields = ["amount", "currency", "account_id", "surcharge_amount", "reference"];
    effect.expecting_fields(&asked, &fields).expecting("type", "CHARGE")
}

/// Stores the recurring charge as the object; of the charge itself only id and amount.
fn learn(_: &Intent, reply: &Value) -> Result<Learned, String> {
    let id = expect::usable_id(text(reply, "recurring_charge_id"))
        .map_err(|error| format!("the answer names no recurring charge: {error}"))?;
    let mut facts = json!({"first_charge": reply.get("id"), "first_amount": reply.get("amount")});
    copy_fields(&mut facts, &Value::Null, &ENDING_FACTS);
    copy_fields(&mut facts, reply, &["currency", "account_id"]);
    Ok(Learned { remote_id: Some(id), ..Learned::existing(facts) })
}

fn queries(intent: &Intent) -> Vec<RemoteQuery> {
    let reference = format!("reference:{}", intent.mark);
    vec![
        RemoteQuery::list(Call::to::<ListRecurring>(&[])),
        RemoteQuery::list(Call::to::<SearchTransactions>(&[]).query("qf", reference)),
        events_since(intent),
    ]
}

fn judge(intent: &Intent, answers: &[RemoteAnswer]) -> LookupResult {
    let [list, search, events] = answers else {
        return LookupResult::not_asked();
    };
    let marked = |item: &&Value| text(item, "reference") == intent.mark.as_str();
    let told = event_data(events.items(), "transaction.");
    let made = succeeded_charges(search.items().iter().chain(told).filter(marked));
    match made.as_slice() {
        [charge] if charge.get("recurring_charge_id").is_some() => {
            LookupResult::Applied((*charge).clone())
        }
        [charge] => LookupResult::Inconclusive(format!(
            "the charge {} was made, and nothing names its recurring charge",
            expect::render_id(charge)
        )),
        [] => judge_unsuccessful(intent, list, search, events),
        more => LookupResult::Inconclusive(format!("{} charges carry {}", more.len(), intent.mark)),
    }
}

/// Returns each charge that succeeded, once, in its most complete form.
fn succeeded_charges<'a>(charges: impl Iterator<Item = &'a Value>) -> Vec<&'a Value> {
    let mut made: BTreeMap<&str, &Value> = BTreeMap::new();
    let stands = |charge: &&Value| !matches!(text(charge, "status"), "PENDING" | "FAILED");
    for charge in charges.filter(stands) {
        let known = made.entry(text(charge, "id")).or_insert(charge);
        if known.get("recurring_charge_id").is_none() {
            *known = charge;
        }
    }
    made.into_values().collect()
}

/// Judges an effect of which no charge succeeded: declined, absent, or undecidable.
fn judge_unsuccessful(
    intent: &Intent,
    list: &RemoteAnswer,
    search: &RemoteAnswer,
    events: &RemoteAnswer,
) -> LookupResult {
    if let Some(one) = list.items().iter().find(|one| carries(one, &intent.mark)) {
        let id = expect::render_id(one);
        return LookupResult::Inconclusive(format!(
            "{id} carries the mark, and its charge is not shown"
        ));
    }
    // An earlier attempt may have been declined under the same mark.
    let news = new_event_data(intent, events, "").into_iter();
    let news = news.filter(|data| text(data, "reference") == intent.mark.as_str());
    let news: Vec<&Value> = news.collect();
    if let Some(charge) = news.iter().find(|charge| text(charge, "status") == "FAILED") {
        return declined(charge, "The first charge was declined");
    }
    match (news.first(), list, search) {
        (Some(charge), _, _) => LookupResult::Inconclusive(format!(
            "the charge {} was begun; its result is not known",
            expect::render_id(charge)
        )),
        (None, RemoteAnswer::Items(_), RemoteAnswer::Items(_)) => LookupResult::NotFound,
        (None, _, _) => LookupResult::inconclusive(
            "this service lists neither its transactions nor its recurring charges",
        ),
    }
}

pub(crate) const ROW: EffectRow =
    EffectRow::looked_up::<CreateCharge>("charge.recur", Isolation::None, queries, judge, learn)
        .with_baseline(NEWEST_EVENT);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::id::RemoteId;
    use crate::effects::testing::{intent, items, judged, no_path};

    fn this() -> Intent {
        let newest = json!({"results": [{"id": "e1", "created": "2026-11-21T18:00:00.000Z"}]});
        intent("charge.recur", &json!({"amount": 5000}), newest)
    }

    fn charge(status: &str, recurring: bool) -> Value {
        let mut charge = json!({"id": "t1", "type": "CHARGE", "status": status, "amount": 5000,
            "reference": this().mark});
        if recurring {
            charge["recurring_charge_id"] = json!("r1");
        }
        if status == "FAILED" {
            charge["failure_code"] = json!("card_declined");
        }
        charge
    }

    fn event(id: &str, kind: &str, data: &Value) -> Value {
        json!({"id": id, "type": kind, "data": data})
    }

    fn check(list: RemoteAnswer, search: RemoteAnswer, events: &Value, expect: &str) {
        let told = judged(&this(), &[list, search, items(events)]);
        assert!(told.starts_with(expect), "{told}");
    }

    #[test]
    fn a_charge_with_the_mark_is_found_in_the_search_or_in_an_event() {
        let none = || items(&json!([]));
        let made = charge("AUTHORIZED", true);
        check(none(), items(&json!([made])), &json!([]), "happened t1");
        let told = json!([
            event("e1", "contact.created", &json!({})),
            event("e2", "transaction.created", &charge("PENDING", true)),
            event("e3", "transaction.authorized", &made),
        ]);
        check(no_path(), no_path(), &told, "happened t1");
        let bare = json!([event("e3", "transaction.authorized", &charge("AUTHORIZED", false))]);
        check(none(), items(&json!([made])), &bare, "happened t1");
        check(no_path(), no_path(), &bare, "unknown: the charge t1 was made, and nothing names");
        let mut other = made.clone();
        other["id"] = json!("t2");
        check(none(), items(&json!([made, other])), &json!([]), "unknown: 2 charges carry");
        let mut strange = made;
        strange["reference"] = json!("x");
        check(none(), items(&json!([strange])), &json!([]), "absent");
    }

    #[test]
    fn a_decline_that_came_after_the_baseline_is_a_refusal() {
        let none = || items(&json!([]));
        let failed = charge("FAILED", false);
        let now = json!([
            event("e1", "transaction.authorized", &json!({})),
            event("e2", "transaction.failed", &failed),
        ]);
        check(none(), items(&json!([failed])), &now, "refused card_declined");
        let before = json!([event("e1", "transaction.failed", &failed)]);
        check(none(), items(&json!([failed])), &before, "absent");
    }

    #[test]
    fn absence_is_believed_only_where_charges_can_be_listed() {
        let none = || items(&json!([]));
        check(none(), none(), &json!([]), "absent");
        check(no_path(), none(), &json!([]), "unknown: this service lists neither");
        check(no_path(), no_path(), &json!([]), "unknown: this service lists neither");
        let begun = json!([event("e2", "transaction.created", &charge("PENDING", false))]);
        check(no_path(), no_path(), &begun, "unknown: the charge t1 was begun");
        let listed = json!([{"id": "r1", "description": this().mark.tag("Rent")}]);
        check(items(&listed), none(), &json!([]), "unknown: r1 carries the mark");
    }

    #[test]
    fn an_answer_without_a_recurring_charge_is_not_the_answer() {
        let learned = learn(&this(), &charge("AUTHORIZED", true)).unwrap();
        assert_eq!(learned.remote_id, Some(RemoteId::new("r1").unwrap()));
        assert_eq!(
            (&learned.facts["first_charge"], &learned.facts["first_amount"]),
            (&json!("t1"), &json!(5000))
        );
        assert!(learn(&this(), &charge("AUTHORIZED", false)).is_err());
    }
}
