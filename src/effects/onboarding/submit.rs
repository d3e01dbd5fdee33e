//! Submits a complete application (partner-api, `POST …/merchant_applications`), with its mark in
//! `reference`.
//!
//! No list shows applications. The webhook of the decision carries the reference and settles a lost
//! answer; if none arrives in time, the application needs attention.

use serde_json::{Map, Value, json};

use crate::api::onboarding::application::{ApplicationId, SubmitApplication};
use crate::api::onboarding::fields::{
    ApplicationField, ApplicationPrivacy, FIELDS, SECOND_OWNER, SECOND_OWNER_FIELDS,
};
use crate::base::id::RemoteId;
use crate::effects::core::context::{EffectBuilder, EffectContext};
use crate::effects::core::row::{EffectRow, Isolation, Learned, LostReply};
use crate::model::intents::effect::Effect;
use crate::model::intents::intent::Intent;

/// Submits the application of a spec.
pub fn submit_application(obligation: EffectContext, spec: &Value) -> Effect {
    let mut fields = fields(FIELDS, spec);
    if let Some(second) = spec.get(SECOND_OWNER) {
        let second = self::fields(SECOND_OWNER_FIELDS, second);
        fields.insert(SECOND_OWNER.to_owned(), second.into());
    }
    fields.insert("reference".to_owned(), json!(obligation.source_id.mark()));
    let body = json!({ "merchant_application": fields });
    obligation.effect::<SubmitApplication>(ROW.name, &[], body).with_sealed_body()
}

/// Returns the fields of a table that a spec has. Secrets stay references, which are resolved as
/// late as possible.
pub(crate) fn fields(table: &[ApplicationField], spec: &Value) -> Map<String, Value> {
    let written = |field: &ApplicationField| {
        let value = spec.get(field.name)?;
        let value = match field.privacy {
            ApplicationPrivacy::Secret => json!({ "$secret": value }),
            ApplicationPrivacy::Plain | ApplicationPrivacy::Personal => value.clone(),
        };
        Some((field.name.to_owned(), value))
    };
    table.iter().filter_map(written).collect()
}

/// Stores only the application's number: an underwriting decision may be known already, and stays.
fn learn(_: &Intent, reply: &Value) -> Result<Learned, String> {
    let id = reply.pointer("/merchant_application/id").and_then(ApplicationId::read);
    let id = id.and_then(|id| RemoteId::new(&id.to_string()).ok());
    let remote_id = match (id, reply) {
        (None, Value::Null) => None,
        (None, _) => return Err("the answer holds no number of an application".to_owned()),
        (id, _) => id,
    };
    Ok(Learned { remote_id, exists: true, facts: json!({}), secrets: Vec::new() })
}

pub(crate) const ROW: EffectRow =
    EffectRow::new("application.submit", LostReply::AwaitWebhook, Isolation::None, learn);
