//! `/_sandbox/transactions/{id}/settlement`: settles a transaction, or fails its settlement, ahead
//! of the daily run.

use serde_json::Value;

use crate::sandbox::http::answer::SandboxAnswer;
use crate::sandbox::http::refusal::SandboxRefusal;
use crate::sandbox::payments::charges::KIND;
use crate::sandbox::payments::transactions;
use crate::sandbox::payments::transactions::{StoredTransaction, TransactionTransition};
use crate::sandbox::state::store::ChangeUnit;

/// Failure code of a transaction whose money did not arrive, unless the order names one
/// (service-facts, part 2).
const FAILURE: &str = "settlement_failed";

/// `{"result":"settled"|"failed","code":…}`: the money arrived, or it did not arrive or was taken
/// back for the reason `code`. Answers the transaction.
pub(super) fn settle(
    cx: &mut ChangeUnit<'_>,
    id: &str,
    order: &Value,
) -> Result<SandboxAnswer, SandboxRefusal> {
    let text = |name: &str| order.get(name).and_then(Value::as_str);
    let kept: Option<StoredTransaction> = cx.find_any_owner(KIND, id)?;
    let mut kept = kept.ok_or_else(|| SandboxRefusal::not_found("Transaction", id))?;
    let change = match text("result") {
        Some("settled") => TransactionTransition::Capture,
        Some("failed") => TransactionTransition::Return,
        Some(_) | None => return Err(SandboxRefusal::invalid("result is `settled` or `failed`")),
    };
    if change == TransactionTransition::Return {
        kept.object.failure_code = Some(text("code").unwrap_or(FAILURE).to_owned());
    }
    transactions::apply(cx, &mut kept, change)?;
    SandboxAnswer::json(&kept.object)
}
