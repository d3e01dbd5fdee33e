//! A merchant whose credentials the service takes no more: it waits until its document gives others.

use serde_json::Value;

use crate::model::manifest::Manifest;
use crate::model::observed::Observed;
use crate::model::plan::Reason;
use crate::model::unauthorised;

/// What follows from credentials that were refused.
pub(super) enum Authorization {
    /// None were, as far as is known.
    Given,
    /// Its document gives others by now: they are used, and nothing that the old ones opened counts.
    Renewed,
    /// It waits for others.
    Awaited(Reason),
}

/// How a merchant stands whose spec, without its secrets, is `spec`.
pub(super) fn authorization(manifest: &Manifest, spec: &Value, have: &Observed) -> Authorization {
    let Some(refused) = &have.unauthorised else { return Authorization::Given };
    let renewed = refused.generation < manifest.annotations.generation
        || refused.credentials != unauthorised::credentials(spec);
    if renewed {
        return Authorization::Renewed;
    }
    Authorization::Awaited(Reason::AwaitsAuthorization(help(&manifest.spec)))
}

/// What to do, by where the credentials come from.
pub(super) fn help(spec: &Value) -> String {
    let from = |name: &str| spec.pointer("/credentials").is_some_and(|one| one.get(name).is_some());
    let what = if from("keys") {
        "put keys that are valid at `credentials.keys`"
    } else if from("access_token") {
        "let the merchant authorise again and name the new token at `credentials.access_token`"
    } else {
        "let the merchant authorise again and name the new code at `credentials.authorization_code`"
    };
    format!(
        "{what}, or raise reckon.dev/generation once what it names holds a new one; it is asked \
             again every ten minutes whether the old ones are taken"
    )
}
