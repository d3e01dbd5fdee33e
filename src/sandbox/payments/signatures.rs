//! Signatures of transactions (gateway-api, POST /v1/transactions/{transactionId}/sign;
//! service-facts, 48, 49).

use serde_json::Value;

use super::transactions;
use super::transactions::{StoredTransaction, status_refusal};
use crate::api::payments::actions::{NewSignature, Signature, SignedTransaction, signature_rules};
use crate::api::payments::transaction::TransactionStatus;
use crate::api::wire::Timestamp;
use crate::sandbox::http::lenient_json;
use crate::sandbox::http::refusal::SandboxRefusal;
use crate::sandbox::http::request::ParsedRequest;
use crate::sandbox::options::ServiceSurface;
use crate::sandbox::state::lists::{ObjectKind, ObjectOwner, Stored};
use crate::sandbox::state::store::ChangeUnit;

const KIND: ObjectKind = ObjectKind { word: "signature", name: "Signature" };

/// Stores the one signature of a transaction.
pub(crate) fn sign(
    cx: &mut ChangeUnit<'_>,
    asked: &ParsedRequest,
    new: NewSignature,
) -> Result<SignedTransaction, SandboxRefusal> {
    let owner = asked.owner()?;
    let mut kept = transactions::find(cx, &owner, asked.parameter(0))?;
    let mut problems = signature_rules(&new);
    let gratuity = gratuity(asked)?;
    if gratuity < 0 {
        let mut more = crate::api::rules::FieldProblems::default();
        more.amount("gratuity", "Gratuity", gratuity, 0);
        problems.extend(more.into_list());
    }
    SandboxRefusal::fields("", &problems)?;
    need_signable(&kept, gratuity)?;
    let NewSignature { mime_type, data } = new.clone();
    let signature = Signature { mime_type, data, ..Signature::default() };
    kept.object.signature_id = Some(store_signature(cx, &owner, new)?);
    let is_public = cx.environment.options.surface == ServiceSurface::Public;
    let added = Some(gratuity).filter(|gratuity| is_public && *gratuity > 0);
    kept.object.gratuity = added.or(kept.object.gratuity);
    transactions::store_update(cx, &mut kept)?;
    Ok(SignedTransaction { transaction: kept.object, signature })
}

/// Stores a signature; returns its id.
pub(crate) fn store_signature(
    cx: &mut ChangeUnit<'_>,
    owner: &ObjectOwner,
    given: NewSignature,
) -> Result<String, SandboxRefusal> {
    let id = cx.fresh_gateway_id();
    let NewSignature { mime_type, data } = given;
    let object =
        Signature { id: Some(id.clone()), created: Some(Timestamp(cx.now)), mime_type, data };
    let sequence = cx.next();
    let stored = Stored { owner: owner.clone(), sequence, object, internal: () };
    cx.create(KIND, &owner.key(), &id, &stored)?;
    Ok(id)
}

/// Requires a transaction that has no signature yet and was neither voided nor failed. A captured
/// one takes no gratuity.
fn need_signable(kept: &StoredTransaction, gratuity: i64) -> Result<(), SandboxRefusal> {
    use TransactionStatus as S;
    let fits = match kept.object.status {
        S::Pending | S::Authorized => true,
        S::Completed => gratuity == 0,
        S::Voided | S::Failed | S::Other(_) => false,
    };
    if fits && kept.object.signature_id.is_none() { Ok(()) } else { Err(status_refusal()) }
}

/// Parses the gratuity in the request, a field that the documents do not know.
fn gratuity(asked: &ParsedRequest) -> Result<i64, SandboxRefusal> {
    let body: Value = lenient_json::parse_body(asked.json()?)?;
    match body.get("gratuity") {
        None => Ok(0),
        Some(value) => {
            let wrong = || SandboxRefusal::field("gratuity", "invalid", "Value is invalid");
            value.as_i64().ok_or_else(wrong)
        }
    }
}

/// GET /v1/signatures/{id}.
pub(crate) fn get(
    cx: &mut ChangeUnit<'_>,
    asked: &ParsedRequest,
) -> Result<Signature, SandboxRefusal> {
    let kept: Stored<Signature, ()> = cx.find(KIND, &asked.owner()?, asked.parameter(0))?;
    Ok(kept.object)
}
