//! Holds: charges that wait for a capture request (gateway-api, capture and holds; service-facts,
//! 45, 46).

use super::transactions::{StoredTransaction, TransactionTransition, status_refusal};
use super::{charges, gratuities, transactions};
use crate::api::Page;
use crate::api::payments::actions::{CAPTURE_LATER, NewCapture, capture_rules};
use crate::api::payments::transaction::{Transaction, TransactionStatus};
use crate::sandbox::http::refusal::SandboxRefusal;
use crate::sandbox::http::request::ParsedRequest;
use crate::sandbox::merchants::geo_rules;
use crate::sandbox::merchants::processing::need_same_currency;
use crate::sandbox::state::lists::{ObjectOwner, PageQuery};
use crate::sandbox::state::store::ChangeUnit;

/// Returns true for a charge captured by a request, not by the daily run.
pub(crate) fn is_hold(object: &Transaction) -> bool {
    object.auto_capture == Some(false)
}

fn list_of(owner: &ObjectOwner) -> String {
    format!("hold/{}", owner.key())
}

/// Adds a charge to the list of holds.
pub(crate) fn add_hold(
    cx: &mut ChangeUnit<'_>,
    kept: &StoredTransaction,
) -> Result<(), SandboxRefusal> {
    cx.list_add(&list_of(&kept.owner), kept.sequence, &kept.object.id)
}

/// Removes a charge from the list of holds.
pub(crate) fn remove_hold(
    cx: &mut ChangeUnit<'_>,
    kept: &StoredTransaction,
) -> Result<(), SandboxRefusal> {
    cx.list_remove(&list_of(&kept.owner), kept.sequence)
}

/// GET /v1/charges/holds: newest first, of one account or all.
pub(crate) fn list_holds(
    cx: &mut ChangeUnit<'_>,
    asked: &ParsedRequest,
) -> Result<Page<Transaction>, SandboxRefusal> {
    let owner = asked.owner()?;
    let paging = PageQuery::of(asked)?;
    let list = list_of(&owner);
    let show = |id: &str| transactions::find(cx, &owner, id).map(|kept| kept.object);
    let Some(account) = asked.query("account_id") else {
        return paging.of_list(cx, &list, show);
    };
    let ids = cx.ids(&list, 0, u64::MAX)?;
    let mut all: Vec<Transaction> = ids.iter().map(|id| show(id)).collect::<Result<_, _>>()?;
    all.retain(|one| one.account_id == account);
    Ok(paging.of_vec(all))
}

/// POST /v1/charges/{id}/capture.
pub(crate) fn capture(
    cx: &mut ChangeUnit<'_>,
    asked: &ParsedRequest,
    mut new: NewCapture,
) -> Result<Transaction, SandboxRefusal> {
    let owner = asked.owner()?;
    let mut kept = charges::find(cx, &owner, asked.parameter(0))?;
    SandboxRefusal::fields("", &capture_rules(&new))?;
    geo_rules::need_country(cx, asked, &owner, &kept.object.account_id)?;
    cx.policy(&owner.merchant)?.need_capture(&kept.object.account_id)?;
    if !is_hold(&kept.object) || kept.object.status != TransactionStatus::Authorized {
        return Err(status_refusal());
    }
    need_same_currency(&kept.object, new.currency.as_deref())?;
    need_full_amount(&kept.object, new.amount)?;
    gratuities::need_signature_of(cx, &new, &kept)?;
    gratuities::Tip::of_capture(cx, &mut new).add(cx, &mut kept)?;
    kept.object.capture_reference = new.reference.filter(|text| !text.is_empty());
    if new.capture_time.as_deref() == Some(CAPTURE_LATER) {
        leave_to_daily_run(cx, &mut kept)?;
    } else {
        transactions::apply(cx, &mut kept, TransactionTransition::Capture)?;
    }
    Ok(kept.object)
}

/// Requires exactly the authorised amount.
fn need_full_amount(held: &Transaction, amount: Option<i64>) -> Result<(), SandboxRefusal> {
    match amount {
        Some(amount) if amount == held.amount => Ok(()),
        Some(amount) if amount > held.amount => {
            let text = "Amount to capture exceeds the authorized amount";
            Err(SandboxRefusal::rule("exceeds_authorized_amount", text))
        }
        Some(_) | None => {
            let text = "Amount must equal the authorized amount";
            Err(SandboxRefusal::field("amount", "invalid", text))
        }
    }
}

/// Converts a hold to a charge that the daily run captures.
fn leave_to_daily_run(
    cx: &mut ChangeUnit<'_>,
    kept: &mut StoredTransaction,
) -> Result<(), SandboxRefusal> {
    remove_hold(cx, kept)?;
    kept.object.auto_capture = Some(true);
    transactions::store_update(cx, kept)?;
    charges::schedule_end(cx, kept)
}
