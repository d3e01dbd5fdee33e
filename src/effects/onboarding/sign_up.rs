//! Creates a page on which the applicant completes the application (partner-api, `POST …/sign_up`).
//!
//! The service submits nothing until the applicant does, so a lost answer is settled by sending
//! again. The page's address is valid for five minutes and one use. The address is sealed, and
//! created anew at each click.

use serde_json::{Map, Value, json};

use super::submit::fields;
use crate::api::onboarding::application::{ApplicationId, StartSignUp};
use crate::api::onboarding::fields::{FIELDS, SECOND_OWNER, SECOND_OWNER_FIELDS};
use crate::base::id::RemoteId;
use crate::base::secret::Secret;
use crate::effects::core::context::{EffectBuilder, EffectContext};
use crate::effects::core::row::{EffectRow, Isolation, Learned};
use crate::model::intents::effect::Effect;
use crate::model::intents::intent::Intent;

/// Fact that names the sealed address of the page.
pub const PAGE: &str = "page";

/// Creates a sign-up page that is filled in from a spec.
pub fn start_sign_up(obligation: EffectContext, spec: &Value) -> Effect {
    let mut body: Map<String, Value> = fields(FIELDS, spec);
    if let Some(second) = spec.get(SECOND_OWNER) {
        body.insert(SECOND_OWNER.to_owned(), fields(SECOND_OWNER_FIELDS, second).into());
    }
    body.insert("reference".to_owned(), json!(obligation.source_id.mark()));
    obligation.effect::<StartSignUp>(ROW.name, &[], body.into()).with_sealed_body()
}

fn learn(_: &Intent, reply: &Value) -> Result<Learned, String> {
    let page = reply.pointer("/merchant_application/redirect_uri").and_then(Value::as_str);
    let page = page.ok_or("the answer names no page")?;
    let id = reply.pointer("/merchant_application/id").and_then(ApplicationId::read);
    let remote_id = id.and_then(|id| RemoteId::new(&id.to_string()).ok());
    let secrets = vec![(PAGE, Secret::from(page))];
    Ok(Learned { remote_id, exists: true, facts: json!({}), secrets })
}

pub(crate) const ROW: EffectRow = EffectRow::resent("application.sign_up", Isolation::None, learn);
