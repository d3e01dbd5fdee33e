//! Exchanges a merchant's authorisation code for a `payments` token (partner-api, POST
//! /oauth/token).
//!
//! A code works once. A lost answer is settled by sending the code once more. An answer is the
//! token; a refusal means that the token is lost and a new authorisation is needed.

use serde_json::{Value, json};

use crate::api::methods::token::ExchangeToken;
use crate::base::secret::Secret;
use crate::effects::core::context::{EffectBuilder, EffectContext};
use crate::effects::core::row::{EffectRow, Isolation, Learned, LostReply};
use crate::model::intents::effect::Effect;
use crate::model::intents::intent::Intent;

/// Fact that names the application whose code was exchanged, as the document named it then.
pub const APPLICATION: &str = "application";

/// Exchanges a code: `{"$secret": SOURCE}` or `{"$sealed": REFERENCE}`. The engine fills in the
/// partner's own values.
pub fn exchange_code(obligation: EffectContext, code: &Value) -> Effect {
    let body = json!({
        "client_id": {"$partner": "client_id"},
        "client_secret": {"$partner": "client_secret"},
        "grant_type": "authorization_code",
        "scope": "payments",
        "redirect_uri": {"$partner": "redirect_uri"},
        "code": code,
    });
    obligation
        .effect::<ExchangeToken>(ROW.name, &[], body)
        .with_sealed_body()
        .expecting("scope", "payments")
}

/// Stores the token, and the application that supplied the code, if any. Facts that an older token
/// gave are read anew.
fn learn(intent: &Intent, reply: &Value) -> Result<Learned, String> {
    let token = reply.get("access_token").and_then(Value::as_str).unwrap_or_default();
    if token.is_empty() {
        return Err("the answer holds no access token".to_owned());
    }
    let secrets = vec![("token", Secret::from(token.to_owned()))];
    let facts = json!({
        APPLICATION: intent.applied.spec.pointer("/credentials/application"),
        "accounts": null,
        "connected": null,
        "merchant_name": null,
        "surveyed": null,
    });
    Ok(Learned { exists: true, facts, secrets, remote_id: None })
}

pub(crate) const ROW: EffectRow = EffectRow::new(
    "code.exchange",
    LostReply::Retry { max_sends: 2, refusal_settles: false },
    Isolation::None,
    learn,
);
