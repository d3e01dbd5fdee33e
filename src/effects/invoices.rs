//! Creates invoices, the contacts who pay them, and portal links of those contacts (partner-api,
//! POST /invoices, POST /contacts; docs/design/assumptions.md).
//!
//! An invoice is the one object with an idempotency key: `source_id` prevents a second one, so a
//! lost answer is settled by sending the same bytes again. The answer is accepted only if it is the
//! requested invoice. A contact has no field for a mark and cannot be searched, so no evidence can
//! settle a lost creation: the manifest's `reckon.dev/on-doubt` decides, and a possible orphan is
//! reported. Only a person requests a portal link, and only after the invoice exists. It sends
//! nothing to anyone, so a lost answer is settled by sending again. The link shows its holder the
//! payments requested of the contact, so it is sealed.

use serde_json::{Value, json};

use crate::api::contact::{CreateContact, CreateContactHash};
use crate::api::invoice::CreateInvoice;
use crate::base::id::{Mode, RemoteId};
use crate::base::secret::Secret;
use crate::effects::core::context::{EffectBuilder, EffectContext, copy_fields, set_field};
use crate::effects::core::row::{EffectRow, Isolation, Learned, LostReply, ProvenState};
use crate::effects::onboarding::PAGE;
use crate::model::effect::Effect;
use crate::model::intent::Intent;
use crate::model::outcome::{ServiceMessage, ServiceProblem};

/// Fields that the answer must repeat (law 4), beside the total.
const COMPARED_FIELDS: [&str; 6] =
    ["contact_id", "bank_account_id", "currency", "test_mode", "source_id", "attachments"];

/// Creates an invoice from its body; `files` are its attachments, each with its id, and `total` is
/// the sum of its lines in minor units.
pub fn create_invoice(cx: EffectContext, mut body: Value, files: &[Value], total: i64) -> Effect {
    if !files.is_empty() {
        set_field(&mut body, "attachments", files);
    }
    set_field(&mut body, "source_id", json!(cx.source_id.as_str()));
    let asked = body.clone();
    let mut effect = cx.effect::<CreateInvoice>(INVOICE_CREATE.name, &[], body).with_sealed_body();
    effect.counts.emails = count_addresses(asked.get("invoice_messages"));
    effect.expecting_fields(&asked, &COMPARED_FIELDS).expecting("total_amount", total)
}

/// Counts the addresses of an invoice's messages: the service sends an e-mail to each (partner-api,
/// POST /invoices).
pub fn count_addresses(messages: Option<&Value>) -> u32 {
    let messages = messages.and_then(Value::as_array).into_iter().flatten();
    let lists = messages.filter_map(|message| message.get("email_addresses")?.as_array());
    u32::try_from(lists.map(Vec::len).sum::<usize>()).unwrap_or(u32::MAX)
}

/// Fields of an answer that are stored.
const STORED_FIELDS: [&str; 6] =
    ["status", "presentment_status", "invoice_number", "total_amount", "currency", "contact_id"];

fn learn_invoice(_: &Intent, reply: &Value) -> Result<Learned, String> {
    // A portal link that was created for an earlier invoice is forgotten.
    let mut facts = json!({PAGE: null});
    copy_fields(&mut facts, reply, &STORED_FIELDS);
    Learned::object(reply, facts)
}

/// Detects a refusal because the `source_id` is taken: then the invoice exists, id unknown.
fn proves_exists(problem: &ServiceProblem) -> Option<ProvenState> {
    let about_source = |message: &ServiceMessage| {
        message.context.as_ref().is_some_and(|context| context.as_str() == "source_id")
    };
    let taken = |message: &ServiceMessage| {
        let text = message.message.as_ref().map(|text| text.as_str().to_lowercase());
        let says = |word: &&str| text.as_ref().is_some_and(|text| text.contains(word));
        ["already", "duplicate", "unique", "taken"].iter().any(says)
    };
    let mut messages = problem.messages.iter();
    let told = messages.any(|message| about_source(message) && taken(message));
    told.then_some(ProvenState::Exists)
}

pub(crate) const INVOICE_CREATE: EffectRow =
    EffectRow::resent("invoice.create", Isolation::None, learn_invoice)
        .with_proven_state(proves_exists);

/// Creates the contact of a spec.
pub fn create_contact(cx: EffectContext, spec: &Value) -> Effect {
    let test = cx.mode == Mode::Test;
    let mut body = json!({"type": "person", "test_mode": test});
    copy_fields(&mut body, spec, &["first_name", "last_name", "email_addresses"]);
    cx.effect::<CreateContact>(CONTACT_CREATE.name, &[], body)
        .with_sealed_body()
        .expecting("test_mode", test)
        .expecting("type", "person")
}

fn learn_contact(_: &Intent, reply: &Value) -> Result<Learned, String> {
    Learned::object(reply, json!({"test_mode": reply.get("test_mode")}))
}

pub(crate) const CONTACT_CREATE: EffectRow =
    EffectRow::new("contact.create", LostReply::Undecidable, Isolation::None, learn_contact);

/// Places of the link in an answer: no document shows this endpoint.
const LINK_PLACES: [&str; 2] = ["/url", "/contact_hash/url"];

/// Creates a portal link of a contact. The context's `applied` is the state already on the
/// service.
pub fn make_link(cx: EffectContext, contact: &RemoteId) -> Effect {
    cx.effect::<CreateContactHash>(CONTACT_HASH.name, &[contact.as_str()], json!({}))
        .with_subject(json!({"contact": contact}))
}

fn learn_link(_: &Intent, reply: &Value) -> Result<Learned, String> {
    let mut found = LINK_PLACES.iter().filter_map(|place| reply.pointer(place)?.as_str());
    let url = found.find(|url| !url.is_empty()).ok_or("the answer names no link")?;
    let secrets = vec![(PAGE, Secret::from(url))];
    Ok(Learned { secrets, ..Learned::existing(json!({})) })
}

pub(crate) const CONTACT_HASH: EffectRow =
    EffectRow::resent("contact.hash", Isolation::Dedup, learn_link);

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
            let learned = learn_link(&intent, &reply).unwrap();
            assert_eq!(learned.secrets, [(PAGE, Secret::from("https://p/x"))]);
            assert!(learned.remote_id.is_none() && !format!("{learned:?}").contains("https"));
        }
        assert!(learn_link(&intent, &json!({"url": ""})).is_err());
    }
}
