//! `/_sandbox/clock`: reads and moves the sandbox's time.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use crate::base::clock::timestamp;
use crate::sandbox::Sandbox;
use crate::sandbox::answer::Answer;
use crate::sandbox::refusal::Refusal;
use crate::sandbox::state::Cx;
use crate::sandbox::time::later;

pub(super) fn show(cx: &Cx<'_>) -> Result<Answer, Refusal> {
    Answer::json(&json!({ "now": timestamp(&cx.now) }))
}

/// `{"advance":"P30D"}` or `{"set":"2027-01-01T00:00:00Z"}`; answers once everything due in between
/// has happened.
pub(super) fn set(sandbox: &Sandbox, order: &Value) -> Result<Answer, Refusal> {
    let text = |name: &str| order.get(name).and_then(Value::as_str);
    let answer = {
        let mut live = sandbox.lock();
        let now = sandbox.now(&live);
        let target = match (text("advance"), text("set")) {
            (Some(duration), None) => later(now, duration),
            (None, Some(time)) => {
                DateTime::parse_from_rfc3339(time).ok().map(|time| time.with_timezone(&Utc))
            }
            (Some(_), Some(_)) | (None, None) => None,
        };
        let wrong = "Give either `advance` (an ISO 8601 duration) or `set` (a time)";
        let target = target.ok_or_else(|| Refusal::invalid(wrong))?;
        sandbox.move_to(&mut live, target)?;
        Answer::json(&json!({ "now": timestamp(&target) }))?
    };
    sandbox.inner.index.flush()?;
    Ok(answer)
}
