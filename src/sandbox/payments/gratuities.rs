//! Gratuities: an amount that the payer adds to a charge, and the signature it requires
//! (service-facts, 33 and 47). The two documents know neither, so the documented surface ignores
//! both.

use super::transactions::{StoredTransaction, status_refusal};
use super::{signatures, transactions};
use crate::api::payments::actions::{NewCapture, NewSignature, signature_rules};
use crate::api::payments::transaction::NewCharge;
use crate::api::rules::FieldProblems;
use crate::sandbox::http::refusal::SandboxRefusal;
use crate::sandbox::options::ServiceSurface;
use crate::sandbox::state::store::ChangeUnit;

/// Gratuity and signature of a charge or capture request.
#[derive(Debug, Default)]
pub(crate) struct Tip {
    gratuity: Option<i64>,
    signature: Option<NewSignature>,
}

fn is_supported(cx: &ChangeUnit<'_>) -> bool {
    cx.environment.options.surface == ServiceSurface::Public
}

/// Refuses with 422 an invalid signature, a negative gratuity, and a positive gratuity without a
/// signature.
pub(crate) fn need_signature(cx: &ChangeUnit<'_>, new: &NewCharge) -> Result<(), SandboxRefusal> {
    if is_supported(cx) { check(new.gratuity, new.signature.as_ref()) } else { Ok(()) }
}

/// Checks a capture in the same way; an earlier signature of the transaction is enough.
pub(crate) fn need_signature_of(
    cx: &ChangeUnit<'_>,
    new: &NewCapture,
    held: &StoredTransaction,
) -> Result<(), SandboxRefusal> {
    if !is_supported(cx) {
        return Ok(());
    }
    let signed = held.object.signature_id.is_some();
    // A transaction takes one signature (service-facts, 48).
    if signed && new.signature.is_some() {
        return Err(status_refusal());
    }
    check(new.gratuity.filter(|_| !signed), new.signature.as_ref())
}

fn check(gratuity: Option<i64>, signature: Option<&NewSignature>) -> Result<(), SandboxRefusal> {
    let mut problems = FieldProblems::default();
    for found in signature.map(signature_rules).unwrap_or_default() {
        problems.add(&format!("signature.{}", found.context), &found.sub_code, &found.message);
    }
    if gratuity.is_some_and(|gratuity| gratuity < 0) {
        problems.add("gratuity", "below_minimum_value", "Gratuity is less than the minimum value");
    }
    SandboxRefusal::fields("", &problems.into_list())?;
    if gratuity.is_some_and(|gratuity| gratuity > 0) && signature.is_none() {
        return Err(SandboxRefusal::rule("signature_required", "A signature is required"));
    }
    Ok(())
}

impl Tip {
    /// Takes gratuity and signature out of a charge request.
    pub(crate) fn of(cx: &ChangeUnit<'_>, new: &mut NewCharge) -> Self {
        let tip = Self { gratuity: new.gratuity.take(), signature: new.signature.take() };
        if is_supported(cx) { tip } else { Self::default() }
    }

    /// Takes gratuity and signature out of a capture request. A gratuity of 0 is dropped
    /// (service-facts, 47).
    pub(crate) fn of_capture(cx: &ChangeUnit<'_>, new: &mut NewCapture) -> Self {
        let gratuity = new.gratuity.take().filter(|gratuity| *gratuity > 0);
        let tip = Self { gratuity, signature: new.signature.take() };
        if is_supported(cx) { tip } else { Self::default() }
    }

    /// Adds gratuity and signature to a charge.
    pub(crate) fn add(
        self,
        cx: &mut ChangeUnit<'_>,
        kept: &mut StoredTransaction,
    ) -> Result<(), SandboxRefusal> {
        if self.gratuity.is_none() && self.signature.is_none() {
            return Ok(());
        }
        kept.object.gratuity = self.gratuity.or(kept.object.gratuity);
        if let Some(signature) = self.signature {
            let owner = kept.owner.clone();
            kept.object.signature_id = Some(signatures::store_signature(cx, &owner, signature)?);
        }
        transactions::store_update(cx, kept)
    }
}
