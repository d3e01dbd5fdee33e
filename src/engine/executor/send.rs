//! Sends the request of an intent, the same bytes each time.

use crate::api::call::{Auth, Call};
use crate::effects::core::row::EffectRow;
use crate::effects::register::effect_row;
use crate::engine::executor::body;
use crate::engine::handles::access::{CredentialError, CredentialSource, access};
use crate::engine::handles::calls;
use crate::engine::handles::shared::{EngineError, EngineShared};
use crate::model::intents::intent::Intent;
use crate::model::service::outcome::Outcome;

/// Returns the row of an effect.
pub(crate) fn row(name: &str) -> Result<&'static EffectRow, EngineError> {
    effect_row(name).ok_or_else(|| EngineError::Bug(format!("unknown effect: {name}")))
}

/// Sends an intent's request, the same bytes each time.
pub(crate) async fn send(
    shared: &EngineShared,
    intent: &Intent,
    wallet: &CredentialSource,
) -> Result<Outcome, EngineError> {
    let call = body::call(shared, intent)?;
    let access = match access_for(shared, wallet, &call) {
        Ok(access) => access,
        Err(CredentialError::Engine(error)) => return Err(error),
        Err(CredentialError::Secret(error)) => {
            return Ok(Outcome::not_sent(&error.message));
        }
    };
    let client = calls::client_for(shared, wallet, call.auth);
    let Some(web_url) = &intent.request.web_url else {
        return Ok(client.send(&call, &access).await);
    };
    match client.with_web_url(web_url) {
        Ok(brand) => Ok(brand.send(&call, &access).await),
        Err(error) => Ok(Outcome::not_sent(&error.to_string())),
    }
}

/// Returns the credential for a call.
pub(crate) fn access_for(
    shared: &EngineShared,
    wallet: &CredentialSource,
    call: &Call,
) -> Result<crate::client::config::Access, CredentialError> {
    if call.auth == Auth::None {
        return Ok(crate::client::config::Access::None);
    }
    access(shared, wallet, call.auth)
}
