//! Clears a merchant's test data (service-facts, 4 and 70; not in the two documents).
//!
//! Data cannot be cleared twice, so a lost answer is settled by sending again. That also clears
//! objects that were created meanwhile; all of it is test data.

use serde_json::{Value, json};

use crate::api::merchant::{Purge, PurgeTestData};
use crate::effects::core::context::EffectContext;
use crate::effects::core::row::{EffectRow, Isolation, Learned};
use crate::model::intents::effect::Effect;
use crate::model::intents::exposure::ExposureCounts;
use crate::model::intents::intent::Intent;

/// Clears the parts of a merchant's test data in `what`. As a rule this removes more than one
/// object; their number at the service is unknown.
pub fn purge_test_data(obligation: EffectContext, what: &Purge) -> Effect {
    let effect = obligation.effect::<PurgeTestData>(ROW.name, &[], json!(what));
    Effect { counts: ExposureCounts { deletes: 1, ..effect.counts }, ..effect }
}

/// Returns what an effect clears, if it clears anything.
pub fn purge_of(effect: &Effect) -> Option<Purge> {
    let purges = effect.name == ROW.name;
    let what = purges.then(|| serde_json::from_value(effect.request.body.clone()).ok());
    what.flatten()
}

#[expect(clippy::unnecessary_wraps, reason = "other effects' answers may be of no use")]
fn learn(_: &Intent, _: &Value) -> Result<Learned, String> {
    Ok(Learned { exists: true, facts: json!({}), ..Learned::default() })
}

pub(crate) const ROW: EffectRow =
    EffectRow::resent("merchant.purge", Isolation::PerMerchant, learn);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::id::RemoteId;
    use crate::effects::core::row::LostReply;
    use crate::effects::payments::void::void;
    use crate::effects::testing::{intent, obligation};

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
            ROW.lost_reply,
            LostReply::Retry { max_sends: 50, refusal_settles: true }
        ));
        let learned = learn(&intent(ROW.name, &json!({}), Value::Null), &Value::Null).unwrap();
        assert!(learned.exists && learned.remote_id.is_none());
    }
}
