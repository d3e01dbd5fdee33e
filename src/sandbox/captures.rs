//! Holds: charges that wait for a capture request (gateway-api, capture and holds; service-facts,
//! 45, 46).

use crate::api::Page;
use crate::api::transaction::actions::{CAPTURE_LATER, NewCapture, capture_rules};
use crate::api::transaction::{Transaction, TransactionStatus};
use crate::sandbox::asked::Asked;
use crate::sandbox::lists::{Owner, Paging};
use crate::sandbox::processing::need_same_currency;
use crate::sandbox::refusal::Refusal;
use crate::sandbox::state::Cx;
use crate::sandbox::transactions::{self, Change, KeptTransaction, unfit};
use crate::sandbox::{charges, gratuities, places};

/// Returns true for a charge captured by a request, not by the daily run.
pub(crate) fn is_hold(object: &Transaction) -> bool {
    object.auto_capture == Some(false)
}

fn list_of(owner: &Owner) -> String {
    format!("hold/{}", owner.key())
}

/// Adds a charge to the list of holds.
pub(crate) fn hold(cx: &mut Cx<'_>, kept: &KeptTransaction) -> Result<(), Refusal> {
    cx.list_add(&list_of(&kept.owner), kept.sequence, &kept.object.id)
}

/// Removes a charge from the list of holds.
pub(crate) fn release(cx: &mut Cx<'_>, kept: &KeptTransaction) -> Result<(), Refusal> {
    cx.list_remove(&list_of(&kept.owner), kept.sequence)
}

/// GET /v1/charges/holds: newest first, of one account or all.
pub(crate) fn holds(cx: &mut Cx<'_>, asked: &Asked) -> Result<Page<Transaction>, Refusal> {
    let owner = asked.owner()?;
    let paging = Paging::of(asked)?;
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
    cx: &mut Cx<'_>,
    asked: &Asked,
    mut new: NewCapture,
) -> Result<Transaction, Refusal> {
    let owner = asked.owner()?;
    let mut kept = charges::find(cx, &owner, asked.parameter(0))?;
    Refusal::fields("", &capture_rules(&new))?;
    places::need_country(cx, asked, &owner, &kept.object.account_id)?;
    cx.policy(&owner.merchant)?.need_capture(&kept.object.account_id)?;
    if !is_hold(&kept.object) || kept.object.status != TransactionStatus::Authorized {
        return Err(unfit());
    }
    need_same_currency(&kept.object, new.currency.as_deref())?;
    need_whole(&kept.object, new.amount)?;
    gratuities::need_signature_of(cx, &new, &kept)?;
    gratuities::Tip::of_capture(cx, &mut new).add(cx, &mut kept)?;
    kept.object.capture_reference = new.reference.filter(|text| !text.is_empty());
    if new.capture_time.as_deref() == Some(CAPTURE_LATER) {
        leave_to_daily_run(cx, &mut kept)?;
    } else {
        transactions::apply(cx, &mut kept, Change::Capture)?;
    }
    Ok(kept.object)
}

/// Requires exactly the authorised amount.
fn need_whole(held: &Transaction, amount: Option<i64>) -> Result<(), Refusal> {
    match amount {
        Some(amount) if amount == held.amount => Ok(()),
        Some(amount) if amount > held.amount => {
            let text = "Amount to capture exceeds the authorized amount";
            Err(Refusal::rule("exceeds_authorized_amount", text))
        }
        Some(_) | None => {
            let text = "Amount must equal the authorized amount";
            Err(Refusal::field("amount", "invalid", text))
        }
    }
}

/// Converts a hold to a charge that the daily run captures.
fn leave_to_daily_run(cx: &mut Cx<'_>, kept: &mut KeptTransaction) -> Result<(), Refusal> {
    release(cx, kept)?;
    kept.object.auto_capture = Some(true);
    transactions::changed(cx, kept)?;
    charges::plan_end(cx, kept)
}
