//! Creates an invoice (partner-api, POST /invoices): the one effect with an idempotency key.
//!
//! `source_id` prevents a second invoice, so a lost answer is settled by sending the same bytes
//! again. The answer is accepted only if it is the requested invoice.

use serde_json::{Value, json};

use crate::api::invoice::CreateInvoice;
use crate::effects::core::context::{EffectBuilder, EffectContext, put};
use crate::effects::core::expect;
use crate::effects::core::row::{EffectRow, Isolation, Learned, ProvenState};
use crate::effects::onboarding::sign_up::PAGE;
use crate::model::intents::effect::Effect;
use crate::model::intents::intent::Intent;
use crate::model::service::outcome::{ServiceMessage, ServiceProblem};

/// Fields that the answer must repeat (law 4), beside the total.
const COMPARED: [&str; 6] =
    ["contact_id", "bank_account_id", "currency", "test_mode", "source_id", "attachments"];

/// Creates an invoice from its body; `files` are its attachments, each with its id, and `total` is
/// the sum of its lines in minor units.
pub fn create_invoice(
    obligation: EffectContext,
    mut body: Value,
    files: &[Value],
    total: i64,
) -> Effect {
    if !files.is_empty() {
        put(&mut body, "attachments", files);
    }
    put(&mut body, "source_id", json!(obligation.source_id.as_str()));
    let asked = body.clone();
    let mut effect = obligation.effect::<CreateInvoice>(ROW.name, &[], body).with_sealed_body();
    effect.counts.emails = count_addresses(asked.get("invoice_messages"));
    for field in COMPARED {
        effect = effect.expecting(field, asked.get(field).cloned().unwrap_or_default());
    }
    effect.expecting("total_amount", total)
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

fn learn(_: &Intent, reply: &Value) -> Result<Learned, String> {
    // A portal link that was created for an earlier invoice is forgotten.
    let mut facts = json!({PAGE: null});
    for field in STORED_FIELDS {
        put(&mut facts, field, reply.get(field).cloned().unwrap_or_default());
    }
    Ok(Learned { remote_id: Some(expect::id(reply)?), exists: true, facts, secrets: Vec::new() })
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

pub(crate) const ROW: EffectRow =
    EffectRow::resent("invoice.create", Isolation::None, learn).with_proven_state(proves_exists);
