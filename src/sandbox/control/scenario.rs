//! `/_sandbox/scenario`: which story was played into this state, so that a second start does not play it again.

use serde_json::{Value, json};

use crate::sandbox::answer::Answer;
use crate::sandbox::refusal::Refusal;
use crate::sandbox::state::Cx;

const KEY: &str = "m/scenario";

/// `{digest, requests}`: of the scenario that was played whole, and how many requests were served in all.
pub(super) fn show(cx: &Cx<'_>) -> Result<Answer, Refusal> {
    let digest: Option<String> = cx.get(KEY)?;
    let requests = cx.scan("request/", None, usize::MAX)?.len();
    Answer::json(&json!({ "digest": digest, "requests": requests }))
}

/// `{digest}`: this scenario was played whole.
pub(super) fn played(cx: &mut Cx<'_>, order: &Value) -> Result<Answer, Refusal> {
    let digest = order.get("digest").and_then(Value::as_str);
    cx.put(KEY, &digest.ok_or_else(|| Refusal::invalid("Name a digest"))?)?;
    Answer::json(&json!({}))
}
