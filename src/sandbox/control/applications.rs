//! `/_sandbox/applications/{id}`: actions of underwriting and support.

use serde_json::{Value, json};

use crate::api::partner_event::DeclineReason;
use crate::sandbox::answer::Answer;
use crate::sandbox::applications::decide::{Decision, decide};
use crate::sandbox::applications::record;
use crate::sandbox::refusal::Refusal;
use crate::sandbox::state::Cx;

/// `{"decision":"approve"|"decline","reason":…}`; a decline without a reason has the reason
/// `other`. With `"reconsidered": true`, a declined application is approved.
pub(super) fn decision(cx: &mut Cx<'_>, id: &str, order: &Value) -> Result<Answer, Refusal> {
    let text = |name: &str| order.get(name).and_then(Value::as_str);
    let decision = match (text("decision"), text("reason").unwrap_or("other")) {
        (Some("approve"), _) => Decision::Approve,
        (Some("decline"), word) => Decision::Decline(reason(word)?),
        (_, _) => return Err(Refusal::invalid("decision is `approve` or `decline`")),
    };
    let again = order.get("reconsidered").is_some_and(|word| word == true);
    Answer::json(&decide(cx, id, &decision, again)?.object)
}

fn reason(word: &str) -> Result<DeclineReason, Refusal> {
    match DeclineReason::from(word) {
        DeclineReason::Other(_) => {
            let text = "reason is `duplicate_application`, `duplicate_merchant` or `other`";
            Err(Refusal::invalid(text))
        }
        known @ (DeclineReason::DuplicateApplication
        | DeclineReason::DuplicateMerchant
        | DeclineReason::Unexplained) => Ok(known),
    }
}

/// Deletes an application, as support does with the test of a sign-up. Another test is still
/// refused.
pub(super) fn delete(cx: &mut Cx<'_>, id: &str) -> Result<Answer, Refusal> {
    record::delete(cx, id)?;
    Answer::json(&json!({}))
}
