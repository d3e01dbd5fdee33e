//! Signatures of transactions (gateway-api, POST /v1/transactions/{transactionId}/sign;
//! service-facts, 48, 49).

use serde_json::Value;

use crate::api::transaction::TransactionStatus;
use crate::api::transaction::actions::{NewSignature, Signature, Signed, signature_rules};
use crate::api::wire::Timestamp;
use crate::sandbox::asked::Asked;
use crate::sandbox::lenient;
use crate::sandbox::lists::{Kept, KindOf, Owner};
use crate::sandbox::options::Surface;
use crate::sandbox::refusal::Refusal;
use crate::sandbox::state::Cx;
use crate::sandbox::transactions::{self, KeptTransaction, unfit};

const KIND: KindOf = KindOf { word: "signature", name: "Signature" };

/// Stores the one signature of a transaction.
pub(crate) fn sign(cx: &mut Cx<'_>, asked: &Asked, new: NewSignature) -> Result<Signed, Refusal> {
    let owner = asked.owner()?;
    let mut kept = transactions::find(cx, &owner, asked.parameter(0))?;
    let mut problems = signature_rules(&new);
    let gratuity = gratuity(asked)?;
    if gratuity < 0 {
        let mut more = crate::api::rules::Problems::default();
        more.amount("gratuity", "Gratuity", gratuity, 0);
        problems.extend(more.into_list());
    }
    Refusal::fields("", &problems)?;
    need_signable(&kept, gratuity)?;
    let NewSignature { mime_type, data } = new.clone();
    let signature = Signature { mime_type, data, ..Signature::default() };
    kept.object.signature_id = Some(keep(cx, &owner, new)?);
    let is_public = cx.world.options.surface == Surface::Public;
    let added = Some(gratuity).filter(|gratuity| is_public && *gratuity > 0);
    kept.object.gratuity = added.or(kept.object.gratuity);
    transactions::changed(cx, &mut kept)?;
    Ok(Signed { transaction: kept.object, signature })
}

/// Stores a signature; returns its id.
pub(crate) fn keep(cx: &mut Cx<'_>, owner: &Owner, given: NewSignature) -> Result<String, Refusal> {
    let id = cx.id();
    let NewSignature { mime_type, data } = given;
    let object =
        Signature { id: Some(id.clone()), created: Some(Timestamp(cx.now)), mime_type, data };
    let sequence = cx.next();
    let stored = Kept { owner: owner.clone(), sequence, object, inside: () };
    cx.create(KIND, &owner.key(), &id, &stored)?;
    Ok(id)
}

/// Requires a transaction that has no signature yet and was neither voided nor failed. A captured
/// one takes no gratuity.
fn need_signable(kept: &KeptTransaction, gratuity: i64) -> Result<(), Refusal> {
    use TransactionStatus as S;
    let fits = match kept.object.status {
        S::Pending | S::Authorized => true,
        S::Completed => gratuity == 0,
        S::Voided | S::Failed | S::Other(_) => false,
    };
    if fits && kept.object.signature_id.is_none() { Ok(()) } else { Err(unfit()) }
}

/// Parses the gratuity in the request, a field that the documents do not know.
fn gratuity(asked: &Asked) -> Result<i64, Refusal> {
    let body: Value = lenient::read(asked.json()?)?;
    match body.get("gratuity") {
        None => Ok(0),
        Some(value) => {
            let wrong = || Refusal::field("gratuity", "invalid", "Value is invalid");
            value.as_i64().ok_or_else(wrong)
        }
    }
}

/// GET /v1/signatures/{id}.
pub(crate) fn get(cx: &mut Cx<'_>, asked: &Asked) -> Result<Signature, Refusal> {
    let kept: Kept<Signature, ()> = cx.find(KIND, &asked.owner()?, asked.parameter(0))?;
    Ok(kept.object)
}
