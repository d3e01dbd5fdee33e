//! Creates a charge that repeats (gateway-api, POST /v1/recurring/charges).
//!
//! No idempotency key guards it. The mark is in the description and in `reference`. The list of
//! recurring charges settles a lost answer where the service has one, else events do; where the
//! service shows neither, the resource goes on hold. Absence in the events counts only on a service
//! that is known to report such creations.

use serde_json::{Value, json};

use crate::api::call::Call;
use crate::api::recurring::charge::{CreateRecurring, ListRecurring};
use crate::base::hash::Mark;
use crate::effects::core::context::{EffectBuilder, EffectContext, put};
use crate::effects::core::evidence::{NEWEST_EVENT, events_since};
use crate::effects::core::expect;
use crate::effects::core::row::{
    EffectRow, Isolation, Learned, LookupResult, RemoteAnswer, RemoteQuery,
};
use crate::model::intents::effect::Effect;
use crate::model::intents::intent::Intent;

/// Event that reports a creation (service-facts, 72).
const CREATED: &str = "recurring_charge.created";

/// Creates a recurring charge from its complete body, without description and reference.
pub fn create_recurring(obligation: EffectContext, mut body: Value, text: &str) -> Effect {
    let mark = obligation.source_id.mark();
    put(&mut body, "description", json!(mark.tag(text)));
    put(&mut body, "reference", json!(mark));
    let asked = body.clone();
    let mut effect = obligation.effect::<CreateRecurring>(ROW.name, &[], body);
    for field in
        ["amount", "currency", "account_id", "max_occurrences", "max_amount", "description"]
    {
        effect = effect.expecting(field, asked.get(field).cloned().unwrap_or_default());
    }
    effect.expecting("schedule", asked.get("schedule").cloned().unwrap_or_default())
}

/// Facts about the end of the previous charge, cleared by an answer about an active one.
pub(crate) const ENDING_FACTS: [&str; 5] = ["status", "next_payment", "ended", "end", "looked"];

/// Returns the stored fields of a recurring charge that the service shows.
pub fn recurring_facts(shown: &Value) -> Value {
    let mut facts = json!({});
    for field in ENDING_FACTS {
        put(&mut facts, field, Value::Null);
    }
    for field in ["status", "next_payment", "currency", "account_id", "amount"] {
        put(&mut facts, field, shown.get(field).cloned().unwrap_or_default());
    }
    facts
}

/// Stores the fields of a recurring charge.
pub(crate) fn learn(_: &Intent, reply: &Value) -> Result<Learned, String> {
    let facts = recurring_facts(reply);
    Ok(Learned { remote_id: Some(expect::id(reply)?), exists: true, facts, secrets: Vec::new() })
}

fn queries(intent: &Intent) -> Vec<RemoteQuery> {
    vec![RemoteQuery::list(Call::to::<ListRecurring>(&[])), events_since(intent)]
}

fn judge(intent: &Intent, answers: &[RemoteAnswer]) -> LookupResult {
    let (Some(list), Some(events)) = (answers.first(), answers.get(1)) else {
        return LookupResult::Inconclusive("the service was not asked".to_owned());
    };
    let listed = list.items().iter().filter(|item| carries(item, &intent.mark));
    let created = events.items().iter().filter(|event| type_of(event) == CREATED);
    let reported = created.filter_map(|event| event.get("data"));
    let mut found: Vec<&Value> =
        listed.chain(reported.filter(|data| carries(data, &intent.mark))).collect();
    found.dedup_by_key(|item| item.get("id"));
    match (found.as_slice(), list) {
        ([one], _) => LookupResult::Applied((*one).clone()),
        ([], RemoteAnswer::Items(_)) => LookupResult::NotFound,
        ([], RemoteAnswer::Missing(_) | RemoteAnswer::Body(_)) => LookupResult::Inconclusive(
            "this service lists no recurring charges and reports none of their events".to_owned(),
        ),
        (more, _) => LookupResult::Inconclusive(format!(
            "{} recurring charges carry {}",
            more.len(),
            intent.mark
        )),
    }
}

/// Returns whether a recurring charge carries a mark in either of its two places.
pub(crate) fn carries(item: &Value, mark: &Mark) -> bool {
    let text = |field: &str| item.get(field).and_then(Value::as_str).unwrap_or_default();
    text("reference") == mark.as_str() || Mark::find_in(text("description")).as_ref() == Some(mark)
}

fn type_of(event: &Value) -> &str {
    event.get("type").and_then(Value::as_str).unwrap_or_default()
}

pub(crate) const ROW: EffectRow =
    EffectRow::looked_up("recurring.create", Isolation::None, queries, judge, learn)
        .with_baseline(NEWEST_EVENT);
