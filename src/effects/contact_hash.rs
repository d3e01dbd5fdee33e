//! The portal link of an invoice's contact, for a payer whom the partner writes to itself (partner-api, POST
//! /invoices; docs/assumptions.md).
//!
//! It is asked for only after the invoice exists, and by a person alone. Making one sends nothing to anybody, so
//! a lost answer is settled by sending again. Whoever has the link sees what the contact is asked to pay: it
//! is sealed.

use serde_json::{Value, json};

use super::application_sign_up::PAGE;
use super::register::{Doubt, EffectRow, Lane, Learned, nothing};
use super::{Obligation, Shaped};
use crate::api::contact_hash::CreateContactHash;
use crate::base::id::RemoteId;
use crate::base::secret::Secret;
use crate::model::effect::Effect;
use crate::model::intent::Intent;

/// Sends in all before a person has to look: far more than a bad hour needs.
const SENDS_MAX: u32 = 50;
/// Where the link may stand in an answer: the endpoint is not shown.
const PLACES: [&str; 2] = ["/url", "/contact_hash/url"];

/// Makes a portal link of a contact. The obligation's `applied` is what is on the service already.
pub fn make_link(obligation: Obligation, contact: &RemoteId) -> Effect {
    obligation
        .effect::<CreateContactHash>(ROW.name, &[contact.as_str()], json!({}))
        .about(json!({"contact": contact}))
}

fn learn(_: &Intent, reply: &Value) -> Result<Learned, String> {
    let mut found = PLACES.iter().filter_map(|place| reply.pointer(place)?.as_str());
    let url = found.find(|url| !url.is_empty()).ok_or("the answer names no link")?;
    let secrets = vec![(PAGE, Secret::from(url))];
    Ok(Learned { remote_id: None, exists: true, facts: json!({}), secrets })
}

pub(super) const ROW: EffectRow = EffectRow {
    name: "contact.hash",
    doubt: Doubt::Resend { most: SENDS_MAX, refusal_settles: true },
    baseline: None,
    lane: Lane::Twin,
    learn,
    proves: nothing,
};

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
