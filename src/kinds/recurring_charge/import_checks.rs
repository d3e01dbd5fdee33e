//! Requirements on a recurring charge for its import, beyond its own fields: the same currency and
//! account, and the method of the document.

use serde_json::{Value, json};

use super::account;
use super::request::amount_per_occurrence;
use crate::kinds::planning::step::{MERCHANT, StepCx, reference};
use crate::kinds::remote::import_check::{ImportCheck, OnMismatch};
use crate::kinds::saved_method::shape::SavedMethodKind;
use crate::kinds::schema::kind::SpecSchema;
use crate::model::manifest::Manifest;

pub(super) fn import_checks(cx: &StepCx<'_>, manifest: &Manifest) -> Vec<ImportCheck> {
    let currency = amount_per_occurrence(&manifest.spec).ok().map(|money| ImportCheck {
        path: "amount",
        at: "/currency",
        expected: json!(money.currency()),
        on_mismatch: OnMismatch::Reject,
    });
    [currency, account_of(cx, manifest), method(cx, manifest), start(manifest)]
        .into_iter()
        .flatten()
        .collect()
}

/// Requires the account that the document names, once the merchant's accounts are known.
fn account_of(cx: &StepCx<'_>, manifest: &Manifest) -> Option<ImportCheck> {
    manifest.spec.get("account")?;
    let owner = cx.view.observed_state(&reference(manifest, MERCHANT)?)?;
    let id = account::select(cx, manifest, &owner).ok()??.get("id")?.clone();
    Some(ImportCheck {
        path: "account",
        at: "/account_id",
        expected: id,
        on_mismatch: OnMismatch::Reject,
    })
}

/// Requires the number of the method, by its fingerprint, else by its last digits.
fn method(cx: &StepCx<'_>, manifest: &Manifest) -> Option<ImportCheck> {
    let saved = cx.view.observed_state(&reference(manifest, SavedMethodKind::NAME)?)?;
    let expect = |at, want: &Value, how| ImportCheck {
        path: "method",
        at,
        expected: want.clone(),
        on_mismatch: how,
    };
    let fingerprint = saved.fact("fingerprint");
    if fingerprint.is_string() {
        return Some(expect("/method/fingerprint", fingerprint, OnMismatch::Change));
    }
    let number = match saved.text("card_type") {
        Some(_) => "/method/number",
        None => "/method/account_number",
    };
    saved.text("last4")?;
    Some(expect(number, saved.fact("last4"), OnMismatch::ChangeByLastDigits))
}

/// Requires the first date, which is meaningless once a payment was attempted: it is compared only
/// before.
fn start(manifest: &Manifest) -> Option<ImportCheck> {
    let want = manifest.spec.pointer("/schedule/start")?.clone();
    Some(ImportCheck {
        path: "schedule.start",
        at: "/schedule/start",
        expected: want,
        on_mismatch: OnMismatch::ChangeBeforeFirstPayment,
    })
}
