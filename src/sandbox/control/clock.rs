//! `/_sandbox/clock`: reads and moves the sandbox's time.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use crate::base::clock::timestamp;
use crate::sandbox::http::answer::SandboxAnswer;
use crate::sandbox::http::refusal::SandboxRefusal;
use crate::sandbox::server::Sandbox;
use crate::sandbox::state::store::ChangeUnit;
use crate::sandbox::state::time::add_duration;

pub(super) fn show(cx: &ChangeUnit<'_>) -> Result<SandboxAnswer, SandboxRefusal> {
    SandboxAnswer::json(&json!({ "now": timestamp(&cx.now) }))
}

/// `{"advance":"P30D"}` or `{"set":"2027-01-01T00:00:00Z"}`; answers once everything due in between
/// has happened.
pub(super) fn set(sandbox: &Sandbox, order: &Value) -> Result<SandboxAnswer, SandboxRefusal> {
    let text = |name: &str| order.get(name).and_then(Value::as_str);
    let answer = {
        let mut live = sandbox.lock();
        let now = sandbox.now(&live);
        let target = match (text("advance"), text("set")) {
            (Some(duration), None) => add_duration(now, duration),
            (None, Some(time)) => {
                DateTime::parse_from_rfc3339(time).ok().map(|time| time.with_timezone(&Utc))
            }
            (Some(_), Some(_)) | (None, None) => None,
        };
        let wrong = "Give either `advance` (an ISO 8601 duration) or `set` (a time)";
        let target = target.ok_or_else(|| SandboxRefusal::invalid(wrong))?;
        sandbox.move_to(&mut live, target)?;
        SandboxAnswer::json(&json!({ "now": timestamp(&target) }))?
    };
    sandbox.inner.index.flush()?;
    Ok(answer)
}
