//! Decisions of people about an object: `/_sandbox/applications/{id}` (underwriting and support) and
//! `/_sandbox/transactions/{id}/settlement` (the bank, ahead of the daily run).

use serde::Deserialize;
use serde_json::json;

use super::order::ControlOrder;
use crate::api::onboarding::partner_event::DeclineReason;
use crate::sandbox::answer::{SandboxAnswer, SandboxRefusal};
use crate::sandbox::onboarding::decide::{SandboxDecision, decide};
use crate::sandbox::onboarding::record;
use crate::sandbox::payments::transactions;
use crate::sandbox::payments::transactions::{StoredTransaction, TransactionTransition};
use crate::sandbox::state::lists::ObjectKind;
use crate::sandbox::state::store::ChangeUnit;

/// Failure code of a transaction whose money did not arrive, unless the order names one
/// (service-facts, part 2).
const FAILURE: &str = "settlement_failed";

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Underwriting {
    Approve,
    Decline,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Settlement {
    Settled,
    Failed,
}

/// `{"decision":"approve"|"decline","reason":…}`; a decline without a reason has the reason
/// `other`. With `"reconsidered": true`, a declined application is approved.
pub(crate) fn decide_application(
    cx: &mut ChangeUnit<'_>,
    id: &str,
    order: &ControlOrder,
) -> Result<SandboxAnswer, SandboxRefusal> {
    let decision = match order.need("decision", "decision is `approve` or `decline`")? {
        Underwriting::Approve => SandboxDecision::Approve,
        Underwriting::Decline => {
            SandboxDecision::Decline(reason(order.text("reason").unwrap_or("other"))?)
        }
    };
    let again = order.flag("reconsidered") == Some(true);
    SandboxAnswer::json(&decide(cx, id, &decision, again)?.object)
}

fn reason(word: &str) -> Result<DeclineReason, SandboxRefusal> {
    match DeclineReason::from(word) {
        DeclineReason::Other(_) => {
            let text = "reason is `duplicate_application`, `duplicate_merchant` or `other`";
            Err(SandboxRefusal::invalid(text))
        }
        known @ (DeclineReason::DuplicateApplication
        | DeclineReason::DuplicateMerchant
        | DeclineReason::Unexplained) => Ok(known),
    }
}

/// Deletes an application, as support does with the test of a sign-up. Another test is still
/// refused.
pub(crate) fn delete_application(
    cx: &mut ChangeUnit<'_>,
    id: &str,
) -> Result<SandboxAnswer, SandboxRefusal> {
    record::delete(cx, id)?;
    SandboxAnswer::json(&json!({}))
}

/// `{"result":"settled"|"failed","code":…}`: the money arrived, or it did not arrive or was taken
/// back for the reason `code`. Answers the transaction.
pub(crate) fn settle(
    cx: &mut ChangeUnit<'_>,
    id: &str,
    order: &ControlOrder,
) -> Result<SandboxAnswer, SandboxRefusal> {
    let kept: Option<StoredTransaction> = cx.find_any_owner(ObjectKind::TRANSACTION, id)?;
    let mut kept = kept.ok_or_else(|| SandboxRefusal::not_found("Transaction", id))?;
    let change = match order.need("result", "result is `settled` or `failed`")? {
        Settlement::Settled => TransactionTransition::Capture,
        Settlement::Failed => {
            kept.object.failure_code = Some(order.text("code").unwrap_or(FAILURE).to_owned());
            TransactionTransition::Return
        }
    };
    transactions::apply(cx, &mut kept, change)?;
    SandboxAnswer::json(&kept.object)
}
