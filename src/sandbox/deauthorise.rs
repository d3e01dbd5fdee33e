//! Deauthorising (partner-api, deauthorize application): a merchant's authorization ends.
//!
//! What this partner was given of the merchant stops working: bearer tokens, codes that were not exchanged yet,
//! and the keys of its accounts, which `GET /gateway-credentials` shows. The merchant, its records and the keys
//! that it has itself stay. A fresh code, exchanged, is a new authorization.

use serde_json::Value;

use crate::sandbox::asked::Asked;
use crate::sandbox::auth::{Bearer, by_key};
use crate::sandbox::merchants::KeyKind;
use crate::sandbox::refusal::Refusal;
use crate::sandbox::state::Cx;

fn key(merchant: &str) -> String {
    format!("x/deauthorised/{merchant}")
}

/// Has the merchant's authorization ended?
pub(crate) fn is_over(cx: &Cx<'_>, merchant: &str) -> Result<bool, Refusal> {
    Ok(cx.get::<bool>(&key(merchant))?.unwrap_or(false))
}

/// The merchant has authorised the partner again.
pub(crate) fn undo(cx: &mut Cx<'_>, merchant: &str) {
    cx.remove(&key(merchant));
}

/// Ends the authorization of the merchant of a public key. Errors: 404 for a key of nobody, and for a merchant
/// whose authorization has ended.
pub(crate) fn end(cx: &mut Cx<'_>, asked: &Asked) -> Result<(), Refusal> {
    let public_key = asked.parameter(0);
    let missing = || Refusal::missing("Merchant", public_key);
    let entry = by_key(cx, public_key).map_err(|_| missing())?;
    let merchant = entry.owner.merchant;
    if entry.kind != KeyKind::Public || is_over(cx, &merchant)? {
        return Err(missing());
    }
    forget(cx, "x/bearer/", |value| {
        let bearer = serde_json::from_value(value.clone());
        matches!(bearer, Ok(Bearer::Payments(of)) if of == merchant)
    })?;
    forget(cx, "x/code/", |value| value.as_str() == Some(merchant.as_str()))?;
    cx.put(&key(&merchant), &true)
}

/// Forgets everything under a prefix that fits.
fn forget(cx: &mut Cx<'_>, prefix: &str, fits: impl Fn(&Value) -> bool) -> Result<(), Refusal> {
    for (place, value) in cx.scan(prefix, None, usize::MAX)? {
        if fits(&value) {
            cx.remove(&place);
        }
    }
    Ok(())
}
