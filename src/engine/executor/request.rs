//! The request of an effect: its body with secrets inserted as late as possible, its stored form with
//! private bytes sealed, and its send, the same bytes each time.

use serde_json::{Map, Value};

use crate::api::call::Call;
use crate::base::hash::keyed_digest;
use crate::base::id::Key;
use crate::effects::core::row::EffectRow;
use crate::effects::register::effect_row;
use crate::engine::executor::progress::Attempt;
use crate::engine::handles::access::{self, CredentialError, access};
use crate::engine::handles::shared::{EngineError, EngineResult, EngineShared, SecretError};
use crate::model::effect::Effect;
use crate::model::intent::{Intent, StoredBody, StoredRequest};
use crate::model::outcome::Outcome;
use crate::store::vault::keys::SealedValue;

/// Returns the exact bytes of an effect's body, with its secrets inserted.
pub(crate) fn body_bytes(
    shared: &EngineShared,
    effect: &Effect,
) -> Result<Option<Vec<u8>>, SecretError> {
    if effect.request.body.is_null() {
        return Ok(None);
    }
    let filled = fill(shared, effect, &effect.request.body)?;
    let bytes = serde_json::to_vec(&filled)
        .map_err(|error| SecretError { message: format!("write the request's body: {error}") })?;
    Ok(Some(bytes))
}

/// Copies a template with every placeholder replaced.
fn fill(shared: &EngineShared, effect: &Effect, template: &Value) -> Result<Value, SecretError> {
    match template {
        Value::Object(fields) => {
            if let Some(source) = fields.get("$secret") {
                let owner = secret_owner(fields).unwrap_or_else(|| effect.key.clone());
                let secret = shared.secrets.resolve(source, &owner)?;
                return Ok(Value::from(secret.expose()));
            }
            if let Some(reference) = fields.get("$sealed").and_then(Value::as_str) {
                return open_sealed(shared, reference);
            }
            if let Some(path) = fields.get("$file").and_then(Value::as_str) {
                return attached_file(shared, path, fields.get("sha256"));
            }
            if let Some(name) = fields.get("$partner").and_then(Value::as_str) {
                return partner_value(shared, name);
            }
            let filled = fields
                .iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(name, value)| Ok((name.clone(), fill(shared, effect, value)?)));
            Ok(Value::Object(filled.collect::<Result<_, SecretError>>()?))
        }
        Value::Array(items) => {
            let filled = items.iter().map(|item| fill(shared, effect, item));
            Ok(Value::Array(filled.collect::<Result<_, _>>()?))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(template.clone()),
    }
}

/// Returns the resource that owns a placeholder's secret, if it is not the effect's own.
fn secret_owner(placeholder: &Map<String, Value>) -> Option<Key> {
    placeholder.get("$of").and_then(Value::as_str)?.parse().ok()
}

/// Returns the subject whose key seals a body. A body with another resource's details has a key of
/// its own, which can be destroyed once it is no longer needed.
fn seal_subject(effect: &Effect) -> String {
    let borrowed = |value: &Value| value.as_object().is_some_and(|one| secret_owner(one).is_some());
    let fields = effect.request.body.as_object();
    if fields.is_some_and(|fields| fields.values().any(borrowed)) {
        return borrowed_details(&effect.key);
    }
    effect.key.to_string()
}

/// Names the subject whose key seals details that a resource borrowed from another one.
pub(crate) fn borrowed_details(key: &Key) -> String {
    format!("{key}/borrowed")
}

fn open_sealed(shared: &EngineShared, reference: &str) -> Result<Value, SecretError> {
    let failed = |why: String| SecretError { message: format!("open a sealed value: {why}") };
    let blob = reference.parse().map_err(|_| failed("invalid digest".to_owned()))?;
    let bytes = shared.vault.unseal(&blob).map_err(|error| failed(error.to_string()))?;
    Ok(Value::from(String::from_utf8_lossy(&bytes).into_owned()))
}

/// Returns a file that a spec names, in base64; its digest must be the planned one.
fn attached_file(
    shared: &EngineShared,
    path: &str,
    sha256: Option<&Value>,
) -> Result<Value, SecretError> {
    let digest = sha256.and_then(Value::as_str).and_then(|text| text.parse().ok());
    let digest =
        digest.ok_or_else(|| SecretError { message: "no digest of the file".to_owned() })?;
    let bytes = shared.secrets.attachment(path, digest)?;
    Ok(Value::from(data_encoding::BASE64.encode(&bytes)))
}

fn partner_value(shared: &EngineShared, name: &str) -> Result<Value, SecretError> {
    let partner = shared.partner.as_ref().map_err(Clone::clone)?;
    match name {
        "client_id" => Ok(Value::from(partner.client_id.expose())),
        "client_secret" => Ok(Value::from(partner.client_secret.expose())),
        "redirect_uri" => Ok(Value::from(partner.redirect_uri.as_str())),
        other => Err(SecretError { message: format!("there is no partner value {other}") }),
    }
}

/// Returns a request in its stored form, and the sealed blob that it needs.
pub(crate) fn stored_request(
    shared: &EngineShared,
    effect: &Effect,
    bytes: Option<&[u8]>,
) -> EngineResult<(StoredRequest, Vec<SealedValue>)> {
    let (body, blobs) = match bytes {
        None => (StoredBody::None, Vec::new()),
        Some(bytes) if !effect.sealed => {
            (StoredBody::Plain(String::from_utf8_lossy(bytes).into_owned()), Vec::new())
        }
        Some(bytes) => {
            let subject = seal_subject(effect);
            let sealed = shared.random(|rng| shared.vault.seal(&subject, bytes, rng))?;
            let digest = keyed_digest(&shared.settings.planning.digest_key, "body", bytes);
            let reference = sealed.reference().to_string();
            (StoredBody::Sealed { reference, digest }, vec![sealed])
        }
    };
    let request = &effect.request;
    let stored = StoredRequest {
        endpoint: request.endpoint.clone(),
        method: request.method,
        host: request.host,
        path: request.path.clone(),
        auth: request.auth,
        account: request.account.clone(),
        web_url: request.web_url.clone(),
        body,
    };
    Ok((stored, blobs))
}

/// Rebuilds the call of an intent, byte for byte as it was first sent.
pub(crate) fn stored_call(shared: &EngineShared, intent: &Intent) -> EngineResult<Call> {
    let body = match &intent.request.body {
        StoredBody::None => None,
        StoredBody::Plain(text) => Some(text.clone().into_bytes()),
        StoredBody::Sealed { reference, digest: _ } => {
            let id = intent.id;
            let reference = reference.parse().map_err(|error| {
                EngineError::Bug(format!("invalid reference to a sealed value: {id} ({error})"))
            })?;
            Some(shared.vault.unseal(&reference)?.to_vec())
        }
    };
    let request = &intent.request;
    Ok(Call {
        endpoint: request.endpoint.clone(),
        method: request.method,
        host: request.host,
        path: request.path.clone(),
        query: Vec::new(),
        auth: request.auth,
        body,
    })
}

pub(crate) fn row_of(name: &str) -> EngineResult<&'static EffectRow> {
    effect_row(name).ok_or_else(|| EngineError::Bug(format!("unknown effect: {name}")))
}

impl Attempt<'_> {
    /// Sends the intent's request, the same bytes each time.
    pub(crate) async fn send(self) -> EngineResult<Outcome> {
        let Self { shared, intent, wallet, .. } = self;
        let call = stored_call(shared, intent)?;
        let access = match access(shared, wallet, call.auth) {
            Ok(access) => access,
            Err(CredentialError::Engine(error)) => return Err(error),
            Err(CredentialError::Secret(error)) => return Ok(Outcome::not_sent(&error.message)),
        };
        let client = access::client_for(shared, wallet, call.auth);
        let Some(web_url) = &intent.request.web_url else {
            return Ok(client.send(&call, &access).await);
        };
        match client.with_web_url(web_url) {
            Ok(brand) => Ok(brand.send(&call, &access).await),
            Err(error) => Ok(Outcome::not_sent(&error.to_string())),
        }
    }
}

#[cfg(test)]
mod tests;
