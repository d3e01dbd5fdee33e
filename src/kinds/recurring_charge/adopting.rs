//! Requirements on a recurring charge for its import, beyond its own fields: the same currency and
//! account, and the method of the document.

use serde_json::{Value, json};

use super::account;
use super::request::collected;
use crate::kinds::adopting::{Expect, How};
use crate::kinds::step::{MERCHANT, StepCx, reference};
use crate::model::manifest::Manifest;

pub(super) fn expects(cx: &StepCx<'_>, manifest: &Manifest) -> Vec<Expect> {
    let currency = collected(&manifest.spec).ok().map(|money| Expect {
        path: "amount",
        at: "/currency",
        want: json!(money.currency()),
        how: How::Never,
    });
    [currency, account_of(cx, manifest), method(cx, manifest), start(manifest)]
        .into_iter()
        .flatten()
        .collect()
}

/// Requires the account that the document names, once the merchant's accounts are known.
fn account_of(cx: &StepCx<'_>, manifest: &Manifest) -> Option<Expect> {
    manifest.spec.get("account")?;
    let owner = cx.view.observed(&reference(manifest, MERCHANT)?)?;
    let id = account::chosen(cx, manifest, &owner).ok()??.get("id")?.clone();
    Some(Expect { path: "account", at: "/account_id", want: id, how: How::Never })
}

/// Requires the number of the method, by its fingerprint, else by its last digits.
fn method(cx: &StepCx<'_>, manifest: &Manifest) -> Option<Expect> {
    let saved = cx.view.observed(&reference(manifest, "SavedMethod")?)?;
    let expect = |at, want: &Value, how| Expect { path: "method", at, want: want.clone(), how };
    let fingerprint = saved.fact("fingerprint");
    if fingerprint.is_string() {
        return Some(expect("/method/fingerprint", fingerprint, How::Otherwise));
    }
    let number = match saved.text("card_type") {
        Some(_) => "/method/number",
        None => "/method/account_number",
    };
    saved.text("last4")?;
    Some(expect(number, saved.fact("last4"), How::EndsOtherwise))
}

/// Requires the first date, which is meaningless once a payment was attempted: it is compared only
/// before.
fn start(manifest: &Manifest) -> Option<Expect> {
    let want = manifest.spec.pointer("/schedule/start")?.clone();
    Some(Expect { path: "schedule.start", at: "/schedule/start", want, how: How::BeforeFirst })
}
