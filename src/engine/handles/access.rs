//! Credentials of calls: their selection, the lane in which their calls pass the rate limiter, and
//! merchants whose credentials the service refuses.

use serde_json::{Value, json};

use crate::api::call::{Auth, Host};
use crate::base::id::Key;
use crate::base::secret::Secret;
use crate::client::gate::{Unavailable, Urgency};
use crate::client::request::Access;
use crate::client::service_client::Client;
use crate::effects::merchants::{ACCOUNT_KEYS, account_key};
use crate::engine::handles::shared::{EngineError, EngineResult, EngineShared, SecretError};
use crate::kinds::merchant::MerchantKind;
use crate::kinds::schema::kind::SpecSchema;
use crate::kinds::secrets::redact;
use crate::model::error_class::{ErrorClass, Remedy};
use crate::model::record::Record;
use crate::model::state::credentials::{CredentialsRefused, RefusedCredentials};
use crate::model::state::observed::Observed;
use crate::store::read_model::model::ReadModelError;
use crate::store::vault::frame::VaultError;

/// The sources of a merchant's credentials.
#[derive(Debug, Clone)]
pub(crate) struct CredentialSource {
    pub merchant: Key,
    pub spec: Option<Value>,
    /// True if the manifest's credentials take precedence: they are about to be read.
    pub is_read: bool,
    /// The account whose own keys are used, if it has any.
    pub account: Option<String>,
    pub urgency: Urgency,
    pub generation: u32,
}

impl CredentialSource {
    /// Uses the keys of this account, if it has any.
    pub(crate) fn with_account(self, account: Option<String>) -> Self {
        Self { account, ..self }
    }
}

/// The reason why a call has no credential.
#[derive(Debug, derive_more::From)]
pub(crate) enum CredentialError {
    Secret(SecretError),
    /// The state cannot be read.
    #[from(EngineError, ReadModelError, VaultError)]
    Engine(EngineError),
}

pub(crate) fn access(
    shared: &EngineShared,
    wallet: &CredentialSource,
    auth: Auth,
) -> Result<Access, CredentialError> {
    let (fact, field) = match auth {
        Auth::None => return Ok(Access::None),
        Auth::Tenant => return Ok(Access::Tenant),
        Auth::Payments => ("token", "/access_token"),
        Auth::SecretKey => ("secret_key", "/keys/secret_key"),
        Auth::PublicKey => ("public_key", "/keys/public_key"),
    };
    let known = shared.merchant(&wallet.merchant)?;
    // The credential that the manifest itself names.
    let own = wallet.spec.as_ref().and_then(|spec| spec.pointer(field));
    let known = known.as_deref().filter(|_| !(wallet.is_read && own.is_some()));
    let secret = match account_credential(shared, wallet, known, auth)? {
        Some(secret) => Some(secret),
        None => sealed_credential(shared, (&wallet.merchant, known), fact)?,
    };
    let secret = match secret {
        Some(secret) => secret,
        None => from_spec(shared, &wallet.merchant, own).map_err(CredentialError::Secret)?,
    };
    Ok(match auth {
        Auth::Payments => Access::Bearer(secret),
        Auth::None | Auth::Tenant | Auth::SecretKey | Auth::PublicKey => Access::Basic(secret),
    })
}

/// Returns the account's own key of this kind, if the wallet's account was given one.
fn account_credential(
    shared: &EngineShared,
    wallet: &CredentialSource,
    known: Option<&Observed>,
    auth: Auth,
) -> EngineResult<Option<Secret>> {
    let Some(account) = wallet.account.as_deref() else { return Ok(None) };
    match auth {
        Auth::None | Auth::Tenant | Auth::Payments => Ok(None),
        Auth::PublicKey => Ok(known.and_then(|known| public_key(known, account))),
        Auth::SecretKey => {
            let keys = sealed_credential(shared, (&wallet.merchant, known), ACCOUNT_KEYS)?;
            Ok(keys.and_then(|keys| account_key(&keys, account)))
        }
    }
}

fn public_key(known: &Observed, account: &str) -> Option<Secret> {
    let mut accounts = known.fact("accounts").as_array()?.iter();
    let account = accounts.find(|one| one.get("id").is_some_and(|id| id == account))?;
    let key = account.get("public_key")?.as_str().filter(|key| !key.is_empty())?;
    Some(Secret::from(key.to_owned()))
}

/// Returns a sealed credential, or an open one such as a public key.
fn sealed_credential(
    shared: &EngineShared,
    (merchant, known): (&Key, Option<&Observed>),
    fact: &str,
) -> EngineResult<Option<Secret>> {
    let Some(known) = known else { return Ok(None) };
    if let Some(open) = known.text(fact) {
        return Ok(Some(Secret::from(open.to_owned())));
    }
    let Some(reference) = known.fact(fact).get("sealed").and_then(Value::as_str) else {
        return Ok(None);
    };
    shared.credential(merchant, reference).map(Some)
}

/// Resolves a credential that the merchant's document names itself.
fn from_spec(
    shared: &EngineShared,
    merchant: &Key,
    source: Option<&Value>,
) -> Result<Secret, SecretError> {
    let source = source.ok_or_else(|| SecretError {
        message: format!("{} has no credential for this call yet", merchant.short()),
    })?;
    if let Some(open) = source.as_str() {
        return Ok(Secret::from(open.to_owned()));
    }
    shared.secrets.resolve(source, merchant)
}

/// Returns the client for calls of this kind: in the merchant's lane, or the partner's own.
pub(crate) fn client_for(shared: &EngineShared, wallet: &CredentialSource, auth: Auth) -> Client {
    shared.client.limited_by(&shared.limiter, &lane_name(&wallet.merchant, auth), wallet.urgency)
}

/// Waits until a request may go to this host, before its intent is written.
pub(crate) async fn wait_until_ready(
    shared: &EngineShared,
    wallet: &CredentialSource,
    (host, auth, web_url): (Host, Auth, Option<&str>),
) -> Result<(), Unavailable> {
    let client = client_for(shared, wallet, auth);
    let brand = web_url.map(|web_url| client.with_web_url(web_url));
    // An unusable address is reported when the request is sent.
    let client = brand.and_then(Result::ok).unwrap_or(client);
    client.reserve(host).await
}

pub(crate) const PARTNER_LANE: &str = "partner";

pub(crate) fn lane_name(merchant: &Key, auth: Auth) -> String {
    match auth {
        Auth::None | Auth::Tenant => PARTNER_LANE.to_owned(),
        Auth::Payments | Auth::PublicKey | Auth::SecretKey => merchant.to_string(),
    }
}

/// Handles a merchant's call that was answered with 401: its credentials count as refused from now
/// on. Returns true if the credentials are the merchant's, and not the partner's own.
pub(crate) async fn note_unauthorised(
    shared: &EngineShared,
    wallet: &CredentialSource,
    auth: Auth,
) -> EngineResult<bool> {
    if ErrorClass::Unauthorised.remedy(auth) != Remedy::AwaitAuthorization {
        return Ok(false);
    }
    let known = shared.merchant(&wallet.merchant)?.and_then(|known| known.applied.clone());
    let at = shared.now();
    let what = if let Some(known) = known.filter(|_| !wallet.is_read) {
        RefusedCredentials::new(&known.spec, known.generation, at)
    } else {
        let spec = json!({ "credentials": wallet.spec });
        let spec = redact(MerchantKind::FIELDS, &spec, &shared.settings.planning.digest_key);
        RefusedCredentials::new(&spec, wallet.generation, at)
    };
    if let Some(record) = unauthorised_record(shared, &wallet.merchant, what)? {
        shared.write(Vec::new(), vec![record]).await?;
    }
    Ok(true)
}

/// Returns the record of refused credentials, unless they are known to be refused.
pub(crate) fn unauthorised_record(
    shared: &EngineShared,
    merchant: &Key,
    credentials: RefusedCredentials,
) -> EngineResult<Option<Record>> {
    let known = shared.merchant(merchant)?.and_then(|known| known.unauthorised.clone());
    if known.is_some_and(|known| known.is_same_credentials(&credentials)) {
        return Ok(None);
    }
    tracing::warn!(merchant = %merchant, "the service refuses the credentials of the merchant");
    let refused = CredentialsRefused { merchant: merchant.clone(), credentials };
    Ok(Some(Record::Unauthorised(Box::new(refused))))
}

pub(crate) fn awaits_authorization(shared: &EngineShared, merchant: &Key) -> EngineResult<bool> {
    Ok(shared.merchant(merchant)?.is_some_and(|known| known.unauthorised.is_some()))
}

#[cfg(test)]
mod tests;
