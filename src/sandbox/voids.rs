//! POST /v1/transactions/{id}/void: cancels a charge, refund or credit before it is settled
//! (gateway-api).

use crate::api::transaction::Transaction;
use crate::api::transaction::actions::{NewVoid, void_rules};
use crate::sandbox::asked::Asked;
use crate::sandbox::refusal::Refusal;
use crate::sandbox::state::Cx;
use crate::sandbox::transactions::{self, Change, unfit};
use crate::sandbox::{places, refunds};

/// Voids a transaction; a charge only if it has no outstanding refunds.
pub(crate) fn void(cx: &mut Cx<'_>, asked: &Asked, new: NewVoid) -> Result<Transaction, Refusal> {
    let owner = asked.owner()?;
    let mut kept = transactions::find(cx, &owner, asked.parameter(0))?;
    Refusal::fields("", &void_rules(&new))?;
    places::need_country(cx, asked, &owner, &kept.object.account_id)?;
    if refunds::are_outstanding(cx, &kept.object.id)? {
        return Err(unfit());
    }
    kept.object.void_reference = new.reference.filter(|text| !text.is_empty());
    transactions::apply(cx, &mut kept, Change::Void)?;
    Ok(kept.object)
}
