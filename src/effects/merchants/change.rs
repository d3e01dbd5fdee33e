//! Changes a merchant's own details, and clears its test data (service-facts, 4, 67, 68, 70 and 71;
//! not in the two documents).
//!
//! The details are its contact, its allowed callers, and the targets of its events. The values are
//! personal or grant access, so the body is sealed and the journal holds only their names. The
//! change is absolute, so sending the same bytes again cannot double it. The answer is not compared
//! with the request, since no value may be in plain text. Data cannot be cleared twice, so a lost
//! answer is settled by sending again. That also clears objects that were created meanwhile; all of
//! it is test data.

use serde_json::{Map, Value, json};

use crate::api::merchant::{PatchMerchant, Purge, PurgeTestData};
use crate::effects::core::context::{EffectBuilder, EffectContext};
use crate::effects::core::row::{EffectRow, Isolation, Learned};
use crate::model::effect::{Effect, ExposureCounts};
use crate::model::intent::Intent;

/// Sets the fields in `set` of a merchant's own details.
pub fn change_merchant(cx: EffectContext, set: Map<String, Value>) -> Effect {
    let names: Vec<&String> = set.keys().collect();
    let about = json!({ "set": names });
    let effect = cx.effect::<PatchMerchant>(MERCHANT_CHANGE.name, &[], Value::Object(set));
    effect.with_sealed_body().with_subject(about)
}

/// Stores only the id of the merchant's record, which the service answers.
fn learn_record(_: &Intent, reply: &Value) -> Result<Learned, String> {
    Learned::object(reply, json!({}))
}

pub(crate) const MERCHANT_CHANGE: EffectRow =
    EffectRow::resent("merchant.change", Isolation::PerMerchant, learn_record);

/// Clears the parts of a merchant's test data in `what`. As a rule this removes more than one
/// object; their number at the service is unknown.
pub fn purge_test_data(cx: EffectContext, what: &Purge) -> Effect {
    let effect = cx.effect::<PurgeTestData>(MERCHANT_PURGE.name, &[], json!(what));
    Effect { counts: ExposureCounts { deletes: 1, ..effect.counts }, ..effect }
}

/// Returns what an effect clears, if it clears anything.
pub fn purge_of(effect: &Effect) -> Option<Purge> {
    let purges = effect.name == MERCHANT_PURGE.name;
    let what = purges.then(|| serde_json::from_value(effect.request.body.clone()).ok());
    what.flatten()
}

#[expect(clippy::unnecessary_wraps, reason = "other effects' answers may be of no use")]
fn learn_purge(_: &Intent, _: &Value) -> Result<Learned, String> {
    Ok(Learned::existing(json!({})))
}

pub(crate) const MERCHANT_PURGE: EffectRow =
    EffectRow::resent("merchant.purge", Isolation::PerMerchant, learn_purge);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::id::RemoteId;
    use crate::effects::core::row::LostReply;
    use crate::effects::payments::transactions::void;
    use crate::effects::testing::{intent, obligation};

    #[test]
    fn the_journal_holds_the_names_of_what_is_set_and_no_value() {
        let set = json!({"contact_email": "jane@example.com", "city": "Salem"});
        let effect = change_merchant(obligation(), set.as_object().unwrap().clone());
        assert!(effect.sealed && effect.request.body == set);
        assert_eq!(effect.subject, json!({"set": ["contact_email", "city"]}));
        assert!(effect.expect.is_empty());
        let asked = intent(MERCHANT_CHANGE.name, &json!({}), Value::Null);
        let shown = json!({"id": "m1", "contact_email": "jane@example.com"});
        let learned = learn_record(&asked, &shown).unwrap();
        assert_eq!((learned.exists, &learned.facts), (true, &json!({})));
        assert!(learn_record(&asked, &json!({})).is_err(), "no merchant answered");
    }

    #[test]
    fn a_lost_change_is_sent_again_since_it_is_absolute() {
        assert!(matches!(
            MERCHANT_CHANGE.lost_reply,
            LostReply::Retry { max_sends: 50, refusal_settles: true }
        ));
        assert_eq!(
            MERCHANT_CHANGE.isolation,
            Isolation::PerMerchant,
            "none is overtaken by an older one"
        );
    }

    #[test]
    fn a_purge_says_what_it_clears_and_counts_as_a_removal() {
        let what = Purge { delete_transactions: Some(true), delete_payment_methods: None };
        let effect = purge_test_data(obligation(), &what);
        assert_eq!(effect.request.body, json!({"delete_transactions": true}));
        assert_eq!((effect.counts.deletes, effect.counts.emails), (1, 0));
        assert_eq!(purge_of(&effect), Some(what));
        assert_eq!(purge_of(&void(obligation(), &RemoteId::new("t1").unwrap(), None)), None);
    }

    #[test]
    fn a_lost_purge_is_sent_again_and_its_empty_answer_is_enough() {
        assert!(matches!(
            MERCHANT_PURGE.lost_reply,
            LostReply::Retry { max_sends: 50, refusal_settles: true }
        ));
        let learned =
            learn_purge(&intent(MERCHANT_PURGE.name, &json!({}), Value::Null), &Value::Null)
                .unwrap();
        assert!(learned.exists && learned.remote_id.is_none());
    }
}
