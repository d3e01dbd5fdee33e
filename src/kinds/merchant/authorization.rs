//! Merchant whose credentials the service no longer accepts: it waits until its document supplies
//! others.

use serde_json::Value;

use crate::model::manifest::Manifest;
use crate::model::plans::plan::Reason;
use crate::model::state::credentials;
use crate::model::state::observed::Observed;

/// State of a merchant's credentials.
pub(super) enum Authorization {
    /// Not refused, as far as known.
    Valid,
    /// The document now supplies others: they are used, and everything that the old ones opened is
    /// ignored.
    Renewed,
    /// Refused: the merchant waits for others.
    Refused(Reason),
}

/// Returns the state of the credentials; `spec` is the merchant's spec without its secrets.
pub(super) fn authorization(manifest: &Manifest, spec: &Value, have: &Observed) -> Authorization {
    let Some(refused) = &have.unauthorised else { return Authorization::Valid };
    let renewed = refused.generation < manifest.annotations.generation
        || refused.credentials != credentials::credentials_digest(spec);
    if renewed {
        return Authorization::Renewed;
    }
    Authorization::Refused(Reason::AwaitsAuthorization(help(&manifest.spec)))
}

/// Returns the remedy, by the source of the credentials.
pub(super) fn help(spec: &Value) -> String {
    let from = |name: &str| spec.pointer("/credentials").is_some_and(|one| one.get(name).is_some());
    let what = if from("keys") {
        "write valid keys at `credentials.keys`"
    } else if from("access_token") {
        "let the merchant authorise again and write the new token at `credentials.access_token`"
    } else {
        "let the merchant authorise again and write the new code at `credentials.authorization_code`"
    };
    format!(
        "{what}, or raise reckon.dev/generation once the named source holds new credentials; reckon tries the old \
         ones again every ten minutes"
    )
}
