//! Excludes an occurrence of a recurring charge from automatic collection (gateway-api, POST
//! /v1/recurring/charges/{id}/occurrences/{occurrenceId}/ignore).
//!
//! The occurrence can be read, so a lookup settles a lost answer. An occurrence that was paid
//! meanwhile was not ignored, and its money was collected: the requester reads again.

use serde_json::{Value, json};

use crate::api::call::Call;
use crate::api::recurring::occurrence::{GetOccurrence, IgnoreOccurrence};
use crate::base::id::RemoteId;
use crate::effects::core::context::{EffectBuilder, EffectContext};
use crate::effects::core::expect;
use crate::effects::core::row::{
    EffectRow, Isolation, Learned, LookupResult, RemoteAnswer, RemoteQuery,
};
use crate::model::intents::effect::Effect;
use crate::model::intents::intent::Intent;

/// Ignores an occurrence of a recurring charge. The obligation names the merchant and the
/// requesting resource.
pub fn ignore_occurrence(
    obligation: EffectContext,
    charge: &RemoteId,
    occurrence: &RemoteId,
) -> Effect {
    let path = [charge.as_str(), occurrence.as_str()];
    let effect = obligation.effect::<IgnoreOccurrence>(ROW.name, &path, Value::Null);
    effect
        .targeting(occurrence)
        .with_subject(json!({"charge": charge, "occurrence": occurrence}))
        .expecting("id", occurrence.as_str())
        .expecting("status", "IGNORED")
}

/// The resource is the charge, or a command: its own id is not the occurrence's.
#[expect(clippy::unnecessary_wraps, reason = "other effects' answers may be of no use")]
fn learn(_: &Intent, _: &Value) -> Result<Learned, String> {
    Ok(Learned { exists: true, facts: json!({ "looked": null }), ..Learned::default() })
}

fn queries(intent: &Intent) -> Vec<RemoteQuery> {
    let part = |name: &str| intent.subject.get(name).and_then(Value::as_str).unwrap_or_default();
    vec![RemoteQuery::one(Call::to::<GetOccurrence>(&[part("charge"), part("occurrence")]))]
}

fn judge(_: &Intent, answers: &[RemoteAnswer]) -> LookupResult {
    let Some(RemoteAnswer::Body(occurrence)) = answers.first() else {
        return LookupResult::Inconclusive("the occurrence cannot be found any more".to_owned());
    };
    match expect::text(occurrence, "status") {
        "IGNORED" => LookupResult::Applied(occurrence.clone()),
        "PENDING" | "PAID" | "FAILED" => LookupResult::NotFound,
        _ => LookupResult::Inconclusive(format!(
            "the occurrence is {}",
            expect::render_field(occurrence, "status")
        )),
    }
}

pub(crate) const ROW: EffectRow =
    EffectRow::looked_up("occurrence.ignore", Isolation::PerObject, queries, judge, learn);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effects::testing::{intent, judged, no_path};

    #[test]
    fn a_lost_answer_is_settled_by_the_occurrence() {
        let check =
            |answer: RemoteAnswer| judged(&intent(ROW.name, &json!({}), Value::Null), &[answer]);
        let body = |status: &str| RemoteAnswer::Body(json!({"id": "o1", "status": status}));
        assert_eq!(check(body("IGNORED")), "happened o1");
        for not in ["PENDING", "PAID", "FAILED"] {
            assert_eq!(check(body(not)), "absent", "{not}");
        }
        assert_eq!(check(body("PAYING")), "unknown: the occurrence is PAYING");
        assert!(check(no_path()).starts_with("unknown"));
    }
}
