//! A complete application is submitted (partner-api, `POST …/merchant_applications`), its mark in `reference`.
//!
//! Nothing lists applications. A lost answer is settled by the decision's notification, which carries the
//! reference; if none comes in time, a person has to look.

use serde_json::{Map, Value, json};

use super::register::{Doubt, EffectRow, Lane, Learned, nothing};
use super::{Obligation, Shaped};
use crate::api::application::{
    ApplicationId, FIELDS, Field, Privacy, SECOND_OWNER, SECOND_OWNER_FIELDS, SubmitApplication,
};
use crate::base::id::RemoteId;
use crate::model::effect::Effect;
use crate::model::intent::Intent;

/// Submits the application of a spec.
pub fn submit_application(obligation: Obligation, spec: &Value) -> Effect {
    let mut fields = fields(FIELDS, spec);
    if let Some(second) = spec.get(SECOND_OWNER) {
        let second = self::fields(SECOND_OWNER_FIELDS, second);
        fields.insert(SECOND_OWNER.to_owned(), second.into());
    }
    fields.insert("reference".to_owned(), json!(obligation.source_id.mark()));
    let body = json!({ "merchant_application": fields });
    obligation.effect::<SubmitApplication>(ROW.name, &[], body).sealed()
}

/// The fields of a table that a spec has; secrets are put in as late as possible.
pub(super) fn fields(table: &[Field], spec: &Value) -> Map<String, Value> {
    let written = |field: &Field| {
        let value = spec.get(field.name)?;
        let value = match field.privacy {
            Privacy::Secret => json!({ "$secret": value }),
            Privacy::Plain | Privacy::Personal => value.clone(),
        };
        Some((field.name.to_owned(), value))
    };
    table.iter().filter_map(written).collect()
}

/// Only the number is learnt: what underwriting decided may be known already, and stays.
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

pub(super) const ROW: EffectRow = EffectRow {
    name: "application.submit",
    doubt: Doubt::Notice,
    baseline: None,
    lane: Lane::Own,
    learn,
    proves: nothing,
};
