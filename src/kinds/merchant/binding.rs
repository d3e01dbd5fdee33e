//! Why a merchant whose credentials were read is not theirs to use yet: they are another one's, or nobody
//! has approved them (design.md part 5).
//!
//! What counts is where the token came from, and not what the document says by now: a document that names
//! a code in the place of the application does not get around an approval.

use serde_json::Value;

use super::shape::APPLICATION_KIND;
use crate::base::id::{Key, Mode};
use crate::effects::APPLICATION;
use crate::kinds::reference::resolve;
use crate::kinds::step::{StepCx, reference};
use crate::model::bound::LiveBinding;
use crate::model::manifest::Manifest;
use crate::model::observed::Observed;
use crate::model::plan::Reason;

/// Why what the credentials opened is not this merchant's. What older ones opened, before a new code was
/// exchanged, does not count any more.
pub(super) fn foreign(cx: &StepCx<'_>, manifest: &Manifest, have: &Observed) -> Option<Reason> {
    if have.fact("accounts").is_null() && have.fact("connected").is_null() {
        return None;
    }
    let rival = have.rival.as_ref().map(|other| Reason::BoundElsewhere((**other).clone()));
    rival.or_else(|| misnamed(cx, manifest, have))
}

/// That a code can be exchanged proves nothing: the merchant that it opened must have the name that was
/// applied for.
fn misnamed(cx: &StepCx<'_>, manifest: &Manifest, have: &Observed) -> Option<Reason> {
    let bound = have.bound()?;
    let application = cx.view.manifest(&origin(manifest, have)?)?;
    let asked = application.spec.get("business_name").and_then(Value::as_str)?;
    let plain = |name: &str| name.trim().to_lowercase();
    let same = bound.name.is_some_and(|read| plain(asked) == plain(&read));
    (!same).then(|| {
        let why = "the code of its approval opened a merchant of another name than was applied for";
        Reason::Unfit(format!("{why} in {}", application.key.short()))
    })
}

/// The approval that a live binding by an application's code waits for.
pub(super) fn unapproved(manifest: &Manifest, have: &Observed) -> Option<Reason> {
    let application = origin(manifest, have)?;
    let Some(bound) = have.bound() else { return Some(Reason::NotConnected) };
    if bound.mode != Mode::Live {
        return None;
    }
    let wanted = LiveBinding::new(manifest.key.clone(), application, bound);
    let given = have.approval.as_ref().is_some_and(|approval| approval.binding == wanted);
    (!given).then(|| Reason::AwaitsApproval(Box::new(wanted)))
}

/// The application whose code became the token.
fn origin(manifest: &Manifest, have: &Observed) -> Option<Key> {
    let named = have.text(APPLICATION);
    let named =
        named.and_then(|name| resolve(APPLICATION_KIND, name, &manifest.key.namespace).ok());
    named.or_else(|| reference(manifest, APPLICATION_KIND))
}
