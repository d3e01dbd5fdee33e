//! `/_sandbox/scenario`: the scenario that was played into this state, so that a second start does
//! not play it again.

use serde_json::{Value, json};

use crate::sandbox::answer::Answer;
use crate::sandbox::refusal::Refusal;
use crate::sandbox::state::Cx;

const KEY: &str = "m/scenario";

/// `{digest, requests}`: the digest of the scenario that was played completely, and the number of
/// stored requests.
pub(super) fn show(cx: &Cx<'_>) -> Result<Answer, Refusal> {
    let digest: Option<String> = cx.get(KEY)?;
    let requests = cx.scan("request/", None, usize::MAX)?.len();
    Answer::json(&json!({ "digest": digest, "requests": requests }))
}

/// `{digest}`: records that this scenario was played completely.
pub(super) fn played(cx: &mut Cx<'_>, order: &Value) -> Result<Answer, Refusal> {
    let digest = order.get("digest").and_then(Value::as_str);
    cx.put(KEY, &digest.ok_or_else(|| Refusal::invalid("Name a digest"))?)?;
    Answer::json(&json!({}))
}
