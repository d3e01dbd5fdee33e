//! `/_sandbox/transactions/{id}/settlement`: settles a transaction, or fails its settlement, ahead
//! of the daily run.

use serde_json::Value;

use crate::sandbox::answer::Answer;
use crate::sandbox::charges::KIND;
use crate::sandbox::refusal::Refusal;
use crate::sandbox::state::Cx;
use crate::sandbox::transactions::{self, Change, KeptTransaction};

/// Failure code of a transaction whose money did not arrive, unless the order names one
/// (service-facts, part 2).
const FAILURE: &str = "settlement_failed";

/// `{"result":"settled"|"failed","code":…}`: the money arrived, or it did not arrive or was taken
/// back for the reason `code`. Answers the transaction.
pub(super) fn settle(cx: &mut Cx<'_>, id: &str, order: &Value) -> Result<Answer, Refusal> {
    let text = |name: &str| order.get(name).and_then(Value::as_str);
    let kept: Option<KeptTransaction> = cx.any(KIND, id)?;
    let mut kept = kept.ok_or_else(|| Refusal::missing("Transaction", id))?;
    let change = match text("result") {
        Some("settled") => Change::Capture,
        Some("failed") => Change::Return,
        Some(_) | None => return Err(Refusal::invalid("result is `settled` or `failed`")),
    };
    if change == Change::Return {
        kept.object.failure_code = Some(text("code").unwrap_or(FAILURE).to_owned());
    }
    transactions::apply(cx, &mut kept, change)?;
    Answer::json(&kept.object)
}
