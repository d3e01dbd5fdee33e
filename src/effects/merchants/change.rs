//! Changes a merchant's own details (service-facts, 67, 68 and 71; not in the two documents): its
//! contact, its allowed callers, and the targets of its events.
//!
//! The values are personal or grant access, so the body is sealed and the journal holds only their
//! names. The change is absolute, so sending the same bytes again cannot double it. The answer is
//! not compared with the request, since no value may be in plain text.

use serde_json::{Map, Value, json};

use crate::api::merchant::PatchMerchant;
use crate::effects::core::context::{EffectBuilder, EffectContext};
use crate::effects::core::expect;
use crate::effects::core::row::{EffectRow, Isolation, Learned};
use crate::model::intents::effect::Effect;
use crate::model::intents::intent::Intent;

/// Sets the fields in `set` of a merchant's own details.
pub fn change_merchant(obligation: EffectContext, set: Map<String, Value>) -> Effect {
    let names: Vec<&String> = set.keys().collect();
    let about = json!({ "set": names });
    let effect = obligation.effect::<PatchMerchant>(ROW.name, &[], Value::Object(set));
    effect.with_sealed_body().with_subject(about)
}

/// Stores only the id of the merchant's record, which the service answers.
fn learn(_: &Intent, reply: &Value) -> Result<Learned, String> {
    let remote_id = Some(expect::id(reply)?);
    Ok(Learned { remote_id, exists: true, facts: json!({}), ..Learned::default() })
}

pub(crate) const ROW: EffectRow =
    EffectRow::resent("merchant.change", Isolation::PerMerchant, learn);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effects::core::row::LostReply;
    use crate::effects::testing::{intent, obligation};

    #[test]
    fn the_journal_holds_the_names_of_what_is_set_and_no_value() {
        let set = json!({"contact_email": "jane@example.com", "city": "Salem"});
        let effect = change_merchant(obligation(), set.as_object().unwrap().clone());
        assert!(effect.sealed && effect.request.body == set);
        assert_eq!(effect.subject, json!({"set": ["contact_email", "city"]}));
        assert!(effect.expect.is_empty());
        let asked = intent(ROW.name, &json!({}), Value::Null);
        let shown = json!({"id": "m1", "contact_email": "jane@example.com"});
        let learned = learn(&asked, &shown).unwrap();
        assert_eq!((learned.exists, &learned.facts), (true, &json!({})));
        assert!(learn(&asked, &json!({})).is_err(), "no merchant answered");
    }

    #[test]
    fn a_lost_change_is_sent_again_since_it_is_absolute() {
        assert!(matches!(
            ROW.lost_reply,
            LostReply::Retry { max_sends: 50, refusal_settles: true }
        ));
        assert_eq!(ROW.isolation, Isolation::PerMerchant, "none is overtaken by an older one");
    }
}
