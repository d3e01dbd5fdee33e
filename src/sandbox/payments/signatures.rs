//! Signatures of transactions, and gratuities, which require one (gateway-api, POST
//! /v1/transactions/{transactionId}/sign; service-facts, 33, 47 to 49). The two documents know no
//! gratuity, so the documented surface ignores it.

use serde_json::Value;

use crate::api::rules::FieldProblem;
use crate::api::transaction::{NewSignature, Signature, TransactionStatus, signature_rules};
use crate::api::transaction_action::SignedTransaction;
use crate::api::wire::Timestamp;
use crate::sandbox::answer::{Result, SandboxRefusal};
use crate::sandbox::body;
use crate::sandbox::payments::transactions::{self, StoredTransaction, status_refusal};
use crate::sandbox::request::ParsedRequest;
use crate::sandbox::state::objects::{ObjectKind, ObjectOwner, Stored};
use crate::sandbox::state::store::ChangeUnit;

/// Stores the one signature of a transaction.
pub(crate) fn sign(
    cx: &mut ChangeUnit,
    asked: &ParsedRequest,
    new: NewSignature,
) -> Result<SignedTransaction> {
    let mut kept = transactions::find(cx, &asked.owner()?, asked.parameter(0))?;
    let mut problems = signature_rules(&new);
    let gratuity = gratuity(asked)?;
    if gratuity < 0 {
        problems.push(negative_gratuity());
    }
    SandboxRefusal::fields("", &problems)?;
    need_signable(&kept, gratuity)?;
    let NewSignature { mime_type, data } = new.clone();
    let signature = Signature { mime_type, data, ..Signature::default() };
    kept.object.signature_id = Some(store_signature(cx, &kept.owner, new)?);
    let added = Some(gratuity).filter(|gratuity| cx.is_public() && *gratuity > 0);
    kept.object.gratuity = added.or(kept.object.gratuity);
    transactions::store_update(cx, &mut kept)?;
    Ok(SignedTransaction { transaction: kept.object, signature })
}

fn store_signature(
    cx: &mut ChangeUnit,
    owner: &ObjectOwner,
    given: NewSignature,
) -> Result<String> {
    let id = cx.fresh_gateway_id();
    let NewSignature { mime_type, data } = given;
    let created = Some(Timestamp(cx.now));
    let object = Signature { id: Some(id.clone()), created, mime_type, data };
    let sequence = cx.next();
    let stored = Stored { owner: owner.clone(), sequence, object, internal: () };
    cx.create(ObjectKind::SIGNATURE, &owner.key(), &id, &stored)?;
    Ok(id)
}

/// Requires a transaction neither signed, voided nor failed; a captured one takes no gratuity.
fn need_signable(kept: &StoredTransaction, gratuity: i64) -> Result<()> {
    use TransactionStatus as S;
    let fits = match kept.object.status {
        S::Pending | S::Authorized => true,
        S::Completed => gratuity == 0,
        S::Voided | S::Failed | S::Other(_) => false,
    };
    SandboxRefusal::ensure(fits && kept.object.signature_id.is_none(), status_refusal)
}

/// Parses the gratuity in the request, a field that the documents do not know.
fn gratuity(asked: &ParsedRequest) -> Result<i64> {
    let body: Value = body::parse_body(asked.json()?)?;
    let Some(value) = body.get("gratuity") else { return Ok(0) };
    value.as_i64().ok_or_else(|| SandboxRefusal::field("gratuity", "invalid", "Value is invalid"))
}

pub(crate) fn get_signature(cx: &mut ChangeUnit, asked: &ParsedRequest) -> Result<Signature> {
    Ok(cx.find::<_, ()>(ObjectKind::SIGNATURE, &asked.owner()?, asked.parameter(0))?.object)
}

fn negative_gratuity() -> FieldProblem {
    let text = "Gratuity is less than the minimum value";
    FieldProblem::new("gratuity", "below_minimum_value", text)
}

/// Gratuity and signature of a charge or capture request.
#[derive(Debug, Default)]
pub(crate) struct Tip {
    gratuity: Option<i64>,
    signature: Option<NewSignature>,
}

impl Tip {
    /// Takes both out of a request; the documented surface ignores them.
    pub(crate) fn take(
        cx: &ChangeUnit,
        gratuity: &mut Option<i64>,
        signature: &mut Option<NewSignature>,
    ) -> Self {
        let tip = Self { gratuity: gratuity.take(), signature: signature.take() };
        if cx.is_public() { tip } else { Self::default() }
    }

    /// Refuses an invalid signature, a negative gratuity, and a positive one without a signature.
    pub(crate) fn check(&self) -> Result<()> {
        let mut problems = self.signature.as_ref().map(signature_rules).unwrap_or_default();
        for problem in &mut problems {
            problem.context = format!("signature.{}", problem.context);
        }
        problems.extend(self.gratuity.filter(|tip| *tip < 0).map(|_| negative_gratuity()));
        SandboxRefusal::fields("", &problems)?;
        let fits = self.signature.is_some() || self.gratuity.is_none_or(|tip| tip <= 0);
        SandboxRefusal::unless(fits, "signature_required", "A signature is required")
    }

    /// Checks a capture in the same way; an earlier signature of the transaction is enough. A
    /// gratuity of 0 is dropped (service-facts, 47).
    pub(crate) fn checked_for_capture(self, held: &StoredTransaction) -> Result<Self> {
        if held.object.signature_id.is_none() {
            self.check()?;
        }
        // A transaction takes one signature (service-facts, 48).
        let is_first = held.object.signature_id.is_none() || self.signature.is_none();
        SandboxRefusal::ensure(is_first, status_refusal)?;
        Ok(Self { gratuity: self.gratuity.filter(|tip| *tip > 0), ..self })
    }

    pub(crate) fn add(self, cx: &mut ChangeUnit, kept: &mut StoredTransaction) -> Result<()> {
        if self.gratuity.is_none() && self.signature.is_none() {
            return Ok(());
        }
        kept.object.gratuity = self.gratuity.or(kept.object.gratuity);
        if let Some(signature) = self.signature {
            kept.object.signature_id = Some(store_signature(cx, &kept.owner, signature)?);
        }
        transactions::store_update(cx, kept)
    }
}
