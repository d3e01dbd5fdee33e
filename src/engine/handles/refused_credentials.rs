//! Merchants whose credentials the service refuses.

use serde_json::json;

use super::access::CredentialSource;
use super::shared::{EngineError, EngineShared};
use crate::api::call::Auth;
use crate::base::id::Key;
use crate::kinds::merchant::shape::MerchantKind;
use crate::kinds::schema::kind::SpecSchema;
use crate::kinds::secrets::redact::redact;
use crate::model::record::Record;
use crate::model::service::error_class::{ErrorClass, Remedy};
use crate::model::state::credentials::{CredentialsRefused, RefusedCredentials};

/// Handles a merchant's call that was answered with 401: its credentials count as refused from now
/// on. Returns true if the credentials are the merchant's, and not the partner's own.
pub(crate) async fn note_unauthorised(
    shared: &EngineShared,
    wallet: &CredentialSource,
    auth: Auth,
) -> Result<bool, EngineError> {
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
    what: RefusedCredentials,
) -> Result<Option<Record>, EngineError> {
    let known = shared.merchant(merchant)?.and_then(|known| known.unauthorised.clone());
    if known.is_some_and(|known| known.is_same_credentials(&what)) {
        return Ok(None);
    }
    tracing::warn!(merchant = %merchant, "the service refuses the credentials of the merchant");
    Ok(Some(Record::Unauthorised(Box::new(CredentialsRefused {
        merchant: merchant.clone(),
        credentials: what,
    }))))
}

/// Returns true if a merchant waits for a new authorization.
pub(crate) fn awaits_authorization(
    shared: &EngineShared,
    merchant: &Key,
) -> Result<bool, EngineError> {
    Ok(shared.merchant(merchant)?.is_some_and(|known| known.unauthorised.is_some()))
}
