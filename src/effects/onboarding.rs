//! Effects on merchant applications: a complete one is submitted, or its applicant gets a page on
//! which to complete it (partner-api, `POST …/merchant_applications`, `POST …/sign_up`).
//!
//! No list shows applications. The webhook of the decision carries the mark in `reference` and
//! settles a lost submission; if none arrives in time, the application needs attention. A page
//! submits nothing by itself, so its lost answer is settled by sending again. Its address is valid
//! for five minutes and one use: it is sealed, and created anew at each click.

use serde_json::{Map, Value, json};

use crate::api::onboarding::application::{ApplicationId, StartSignUp, SubmitApplication};
use crate::api::onboarding::fields::{
    ApplicationField, ApplicationPrivacy, FIELDS, SECOND_OWNER, SECOND_OWNER_FIELDS,
};
use crate::base::id::RemoteId;
use crate::base::secret::Secret;
use crate::effects::core::context::EffectContext;
use crate::effects::core::row::{EffectRow, Isolation, Learned, LostReply};
use crate::model::effect::Effect;
use crate::model::intent::Intent;

pub fn submit_application(cx: EffectContext, spec: &Value) -> Effect {
    let body = json!({ "merchant_application": marked_fields(&cx, spec) });
    cx.effect::<SubmitApplication>(APPLICATION_SUBMIT.name, &[], body).with_sealed_body()
}

/// Returns the fields of a spec, with the mark.
fn marked_fields(cx: &EffectContext, spec: &Value) -> Map<String, Value> {
    let mut all = fields(FIELDS, spec);
    if let Some(second) = spec.get(SECOND_OWNER) {
        all.insert(SECOND_OWNER.to_owned(), fields(SECOND_OWNER_FIELDS, second).into());
    }
    all.insert("reference".to_owned(), json!(cx.source_id.mark()));
    all
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
fn learn_submission(_: &Intent, reply: &Value) -> Result<Learned, String> {
    let remote_id = application_id(reply);
    if remote_id.is_none() && !reply.is_null() {
        return Err("the answer holds no number of an application".to_owned());
    }
    Ok(Learned { remote_id, ..Learned::existing(json!({})) })
}

fn application_id(reply: &Value) -> Option<RemoteId> {
    let id = ApplicationId::read(reply.pointer("/merchant_application/id")?)?;
    RemoteId::new(&id.to_string()).ok()
}

pub(crate) const APPLICATION_SUBMIT: EffectRow = EffectRow::new::<SubmitApplication>(
    "application.submit",
    LostReply::AwaitWebhook,
    Isolation::None,
    learn_submission,
);

/// Fact that names the sealed address of the page.
pub const PAGE: &str = "page";

/// Creates a sign-up page that is filled in from a spec.
pub fn start_sign_up(cx: EffectContext, spec: &Value) -> Effect {
    let body = marked_fields(&cx, spec).into();
    cx.effect::<StartSignUp>(APPLICATION_SIGN_UP.name, &[], body).with_sealed_body()
}

fn learn_page(_: &Intent, reply: &Value) -> Result<Learned, String> {
    let page = reply.pointer("/merchant_application/redirect_uri").and_then(Value::as_str);
    let page = page.ok_or("the answer names no page")?;
    let (remote_id, secrets) = (application_id(reply), vec![(PAGE, Secret::from(page))]);
    Ok(Learned { remote_id, secrets, ..Learned::existing(json!({})) })
}

pub(crate) const APPLICATION_SIGN_UP: EffectRow =
    EffectRow::resent::<StartSignUp>("application.sign_up", Isolation::None, learn_page);
