//! `/_sandbox/scenario`: the scenario that was played into this state, so that a second start does
//! not play it again.

use serde_json::{Value, json};

use crate::sandbox::http::answer::SandboxAnswer;
use crate::sandbox::http::refusal::SandboxRefusal;
use crate::sandbox::state::store::ChangeUnit;

const KEY: &str = "m/scenario";

/// `{digest, requests}`: the digest of the scenario that was played completely, and the number of
/// stored requests.
pub(super) fn show(cx: &ChangeUnit<'_>) -> Result<SandboxAnswer, SandboxRefusal> {
    let digest: Option<String> = cx.get(KEY)?;
    let requests = cx.scan("request/", None, usize::MAX)?.len();
    SandboxAnswer::json(&json!({ "digest": digest, "requests": requests }))
}

/// `{digest}`: records that this scenario was played completely.
pub(super) fn record_played(
    cx: &mut ChangeUnit<'_>,
    order: &Value,
) -> Result<SandboxAnswer, SandboxRefusal> {
    let digest = order.get("digest").and_then(Value::as_str);
    cx.put(KEY, &digest.ok_or_else(|| SandboxRefusal::invalid("Name a digest"))?)?;
    SandboxAnswer::json(&json!({}))
}
