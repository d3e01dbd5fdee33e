//! Checks that a merchant may use the credentials that were read: they may belong to another
//! merchant, or lack an approval (design.md part 5).
//!
//! The origin of the token decides, not the current document: a document that replaces the
//! application by a code does not bypass an approval.

use serde_json::Value;

use super::shape::APPLICATION_KIND;
use crate::base::id::{Key, Mode};
use crate::effects::merchants::code_exchange::APPLICATION;
use crate::kinds::planning::step::{StepCx, reference};
use crate::kinds::schema::reference::resolve;
use crate::model::manifest::Manifest;
use crate::model::plans::plan::Reason;
use crate::model::state::credentials::LiveBinding;
use crate::model::state::observed::Observed;

/// Returns the reason why the credentials' accounts are not this merchant's. Accounts that older
/// credentials opened, before a new code was exchanged, are ignored.
pub(super) fn foreign_reason(
    cx: &StepCx<'_>,
    manifest: &Manifest,
    have: &Observed,
) -> Option<Reason> {
    if have.fact("accounts").is_null() && have.fact("connected").is_null() {
        return None;
    }
    let rival = have.rival.as_ref().map(|other| Reason::BoundElsewhere((**other).clone()));
    rival.or_else(|| name_mismatch(cx, manifest, have))
}

/// Compares names: a code that can be exchanged proves nothing, so the merchant that it opened must
/// have the name on the application.
fn name_mismatch(cx: &StepCx<'_>, manifest: &Manifest, have: &Observed) -> Option<Reason> {
    let bound = have.merchant_binding()?;
    let application = cx.view.manifest(&token_application(manifest, have)?)?;
    let asked = application.spec.get("business_name").and_then(Value::as_str)?;
    let plain = |name: &str| name.trim().to_lowercase();
    let same = bound.name.is_some_and(|read| plain(asked) == plain(&read));
    (!same).then(|| {
        let why =
            "the code of the approval opened a merchant of another name than the business name";
        Reason::Unsuitable(format!("{why} in {}", application.key.short()))
    })
}

/// Returns the approval for which a live binding by an application's code waits.
pub(super) fn missing_approval(manifest: &Manifest, have: &Observed) -> Option<Reason> {
    let application = token_application(manifest, have)?;
    let Some(bound) = have.merchant_binding() else { return Some(Reason::NotConnected) };
    if bound.mode != Mode::Live {
        return None;
    }
    let wanted = LiveBinding::new(manifest.key.clone(), application, bound);
    let given = have.approval.as_ref().is_some_and(|approval| approval.binding == wanted);
    (!given).then(|| Reason::AwaitsApproval(Box::new(wanted)))
}

/// Returns the application whose code was exchanged for the token.
fn token_application(manifest: &Manifest, have: &Observed) -> Option<Key> {
    let named = have.text(APPLICATION);
    let named =
        named.and_then(|name| resolve(APPLICATION_KIND, name, &manifest.key.namespace).ok());
    named.or_else(|| reference(manifest, APPLICATION_KIND))
}
