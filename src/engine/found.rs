//! What is found after a restore may have been changed by the state that was lost: what stands on the service then
//! is what it shows, and what it only masks is not known.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::shared::{EngineError, Shared};
use crate::effects::LOOKED_FIRST;
use crate::kinds::readback::{Form, ReadBack, drifted};
use crate::kinds::register;
use crate::model::intent::Intent;
use crate::model::observed::{Applied, Observed};
use crate::model::unsure;

/// The baseline of what is looked for first.
pub(super) fn looked_first() -> Value {
    json!({ LOOKED_FIRST: true })
}

/// Whether an intent is looked for before it is sent: this state has not sent it.
pub(super) fn is_looked_first(intent: &Intent) -> bool {
    intent.baseline.get(LOOKED_FIRST).is_some()
}

/// What a found object is compared with, and what is known to stand there.
pub(super) struct Standing {
    /// What has to be as it was asked, since nothing could change it since.
    pub(super) expect: BTreeMap<String, Value>,
    /// What stands there.
    pub(super) applied: Applied,
}

/// How an object stands that another state may have made and changed since; `None` where only this one can have.
pub(super) fn standing(
    shared: &Shared,
    intent: &Intent,
    item: &Value,
) -> Result<Option<Standing>, EngineError> {
    let looked_first = is_looked_first(intent);
    let epoch = shared.facts.epoch()?.filter(|epoch| epoch.looks);
    let shared_past = epoch.is_some_and(|epoch| looked_first || epoch.is_older(intent.id));
    let row = register::find(intent.key.kind.as_str()).filter(|_| shared_past);
    let back = row.and_then(|row| (row.read_back)(&intent.applied.spec));
    let Some((row, back)) = row.zip(back) else { return Ok(None) };
    let known = Observed::unknown(intent.merchant.clone(), intent.at);
    let known = Observed { applied: Some(intent.applied.clone()), ..known };
    let key = &shared.settings.planning.digest_key;
    let shown = drifted(back, row.fields, key, &known, item).map(|(applied, _)| applied);
    let applied = masked(back, shown.unwrap_or_else(|| intent.applied.clone()));
    Ok(Some(Standing { expect: fixed(back, &intent.expect), applied }))
}

/// What the service only masks may be another one by now.
fn masked(back: &ReadBack, mut applied: Applied) -> Applied {
    for shown in back.fields.iter().filter(|shown| shown.form == Form::Fingerprint) {
        unsure::mark(&mut applied.spec, shown.path);
    }
    applied
}

/// What was expected, without what can be changed and shows.
fn fixed(back: &ReadBack, expect: &BTreeMap<String, Value>) -> BTreeMap<String, Value> {
    let first = |path: &str| path.split('.').next().unwrap_or_default().to_owned();
    let changes = |path: &str| back.fields.iter().any(|shown| first(shown.at) == first(path));
    let fixed = expect.iter().filter(|(path, _)| !changes(path));
    fixed.map(|(path, value)| (path.clone(), value.clone())).collect()
}
