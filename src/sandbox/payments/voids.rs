//! POST /v1/transactions/{id}/void: cancels a charge, refund or credit before it is settled
//! (gateway-api).

use super::transactions::{TransactionTransition, status_refusal};
use super::{refunds, transactions};
use crate::api::payments::actions::{NewVoid, void_rules};
use crate::api::payments::transaction::Transaction;
use crate::sandbox::http::refusal::SandboxRefusal;
use crate::sandbox::http::request::ParsedRequest;
use crate::sandbox::merchants::geo_rules;
use crate::sandbox::state::store::ChangeUnit;

/// Voids a transaction; a charge only if it has no outstanding refunds.
pub(crate) fn void(
    cx: &mut ChangeUnit<'_>,
    asked: &ParsedRequest,
    new: NewVoid,
) -> Result<Transaction, SandboxRefusal> {
    let owner = asked.owner()?;
    let mut kept = transactions::find(cx, &owner, asked.parameter(0))?;
    SandboxRefusal::fields("", &void_rules(&new))?;
    geo_rules::need_country(cx, asked, &owner, &kept.object.account_id)?;
    if refunds::has_outstanding(cx, &kept.object.id)? {
        return Err(status_refusal());
    }
    kept.object.void_reference = new.reference.filter(|text| !text.is_empty());
    transactions::apply(cx, &mut kept, TransactionTransition::Void)?;
    Ok(kept.object)
}
