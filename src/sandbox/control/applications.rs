//! `/_sandbox/applications/{id}`: actions of underwriting and support.

use serde_json::{Value, json};

use crate::api::onboarding::partner_event::DeclineReason;
use crate::sandbox::http::answer::SandboxAnswer;
use crate::sandbox::http::refusal::SandboxRefusal;
use crate::sandbox::onboarding::decide::{SandboxDecision, decide};
use crate::sandbox::onboarding::record;
use crate::sandbox::state::store::ChangeUnit;

/// `{"decision":"approve"|"decline","reason":…}`; a decline without a reason has the reason
/// `other`. With `"reconsidered": true`, a declined application is approved.
pub(super) fn decision(
    cx: &mut ChangeUnit<'_>,
    id: &str,
    order: &Value,
) -> Result<SandboxAnswer, SandboxRefusal> {
    let text = |name: &str| order.get(name).and_then(Value::as_str);
    let decision = match (text("decision"), text("reason").unwrap_or("other")) {
        (Some("approve"), _) => SandboxDecision::Approve,
        (Some("decline"), word) => SandboxDecision::Decline(reason(word)?),
        (_, _) => return Err(SandboxRefusal::invalid("decision is `approve` or `decline`")),
    };
    let again = order.get("reconsidered").is_some_and(|word| word == true);
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
pub(super) fn delete(cx: &mut ChangeUnit<'_>, id: &str) -> Result<SandboxAnswer, SandboxRefusal> {
    record::delete(cx, id)?;
    SandboxAnswer::json(&json!({}))
}
