//! Creates the portal link of an invoice's contact, for a partner who contacts the payer directly
//! (partner-api, POST /invoices; docs/design/assumptions.md).
//!
//! Only a person requests a link, and only after the invoice exists. The service sends nothing to
//! anyone, so a lost answer is settled by sending again. The link shows its holder the payments
//! requested of the contact, so it is sealed.

use serde_json::{Value, json};

use crate::api::contact_hash::CreateContactHash;
use crate::base::id::RemoteId;
use crate::base::secret::Secret;
use crate::effects::core::context::{EffectBuilder, EffectContext};
use crate::effects::core::row::{EffectRow, Isolation, Learned};
use crate::effects::onboarding::sign_up::PAGE;
use crate::model::intents::effect::Effect;
use crate::model::intents::intent::Intent;

/// Places of the link in an answer: no document shows this endpoint.
const PLACES: [&str; 2] = ["/url", "/contact_hash/url"];

/// Creates a portal link of a contact. The obligation's `applied` is the state already on the
/// service.
pub fn make_link(obligation: EffectContext, contact: &RemoteId) -> Effect {
    obligation
        .effect::<CreateContactHash>(ROW.name, &[contact.as_str()], json!({}))
        .with_subject(json!({"contact": contact}))
}

fn learn(_: &Intent, reply: &Value) -> Result<Learned, String> {
    let mut found = PLACES.iter().filter_map(|place| reply.pointer(place)?.as_str());
    let url = found.find(|url| !url.is_empty()).ok_or("the answer names no link")?;
    let secrets = vec![(PAGE, Secret::from(url))];
    Ok(Learned { remote_id: None, exists: true, facts: json!({}), secrets })
}

pub(crate) const ROW: EffectRow = EffectRow::resent("contact.hash", Isolation::Dedup, learn);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effects::testing::intent;

    #[test]
    fn a_link_is_a_secret_wherever_the_answer_has_it() {
        let intent = intent("contact.hash", &json!({}), Value::Null);
        for reply in
            [json!({"url": "https://p/x"}), json!({"contact_hash": {"url": "https://p/x"}})]
        {
            let learned = learn(&intent, &reply).unwrap();
            assert_eq!(learned.secrets, [(PAGE, Secret::from("https://p/x"))]);
            assert!(learned.remote_id.is_none() && !format!("{learned:?}").contains("https"));
        }
        assert!(learn(&intent, &json!({"url": ""})).is_err());
    }
}
