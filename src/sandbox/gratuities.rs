//! Gratuities: an amount that the payer adds to a charge, and the signature it requires
//! (service-facts, 33 and 47). The two documents know neither, so the documented surface ignores
//! both.

use crate::api::rules::Problems;
use crate::api::transaction::NewCharge;
use crate::api::transaction::actions::{NewCapture, NewSignature, signature_rules};
use crate::sandbox::options::Surface;
use crate::sandbox::refusal::Refusal;
use crate::sandbox::signatures;
use crate::sandbox::state::Cx;
use crate::sandbox::transactions::{self, KeptTransaction, unfit};

/// Gratuity and signature of a charge or capture request.
#[derive(Debug, Default)]
pub(crate) struct Tip {
    gratuity: Option<i64>,
    signature: Option<NewSignature>,
}

fn is_known(cx: &Cx<'_>) -> bool {
    cx.world.options.surface == Surface::Public
}

/// Refuses with 422 an invalid signature, a negative gratuity, and a positive gratuity without a
/// signature.
pub(crate) fn need_signature(cx: &Cx<'_>, new: &NewCharge) -> Result<(), Refusal> {
    if is_known(cx) { check(new.gratuity, new.signature.as_ref()) } else { Ok(()) }
}

/// Checks a capture in the same way; an earlier signature of the transaction is enough.
pub(crate) fn need_signature_of(
    cx: &Cx<'_>,
    new: &NewCapture,
    held: &KeptTransaction,
) -> Result<(), Refusal> {
    if !is_known(cx) {
        return Ok(());
    }
    let signed = held.object.signature_id.is_some();
    // A transaction takes one signature (service-facts, 48).
    if signed && new.signature.is_some() {
        return Err(unfit());
    }
    check(new.gratuity.filter(|_| !signed), new.signature.as_ref())
}

fn check(gratuity: Option<i64>, signature: Option<&NewSignature>) -> Result<(), Refusal> {
    let mut problems = Problems::default();
    for found in signature.map(signature_rules).unwrap_or_default() {
        problems.add(&format!("signature.{}", found.context), &found.sub_code, &found.message);
    }
    if gratuity.is_some_and(|gratuity| gratuity < 0) {
        problems.add("gratuity", "below_minimum_value", "Gratuity is less than the minimum value");
    }
    Refusal::fields("", &problems.into_list())?;
    if gratuity.is_some_and(|gratuity| gratuity > 0) && signature.is_none() {
        return Err(Refusal::rule("signature_required", "A signature is required"));
    }
    Ok(())
}

impl Tip {
    /// Takes gratuity and signature out of a charge request.
    pub(crate) fn of(cx: &Cx<'_>, new: &mut NewCharge) -> Self {
        let tip = Self { gratuity: new.gratuity.take(), signature: new.signature.take() };
        if is_known(cx) { tip } else { Self::default() }
    }

    /// Takes gratuity and signature out of a capture request. A gratuity of 0 is dropped
    /// (service-facts, 47).
    pub(crate) fn of_capture(cx: &Cx<'_>, new: &mut NewCapture) -> Self {
        let gratuity = new.gratuity.take().filter(|gratuity| *gratuity > 0);
        let tip = Self { gratuity, signature: new.signature.take() };
        if is_known(cx) { tip } else { Self::default() }
    }

    /// Adds gratuity and signature to a charge.
    pub(crate) fn add(self, cx: &mut Cx<'_>, kept: &mut KeptTransaction) -> Result<(), Refusal> {
        if self.gratuity.is_none() && self.signature.is_none() {
            return Ok(());
        }
        kept.object.gratuity = self.gratuity.or(kept.object.gratuity);
        if let Some(signature) = self.signature {
            let owner = kept.owner.clone();
            kept.object.signature_id = Some(signatures::keep(cx, &owner, signature)?);
        }
        transactions::changed(cx, kept)
    }
}
