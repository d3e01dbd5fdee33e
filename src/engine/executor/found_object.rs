//! Interprets an object found after a restore: the lost state may have changed it. The object's
//! visible fields are taken as the applied state, and its masked fields as unknown.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::effects::core::evidence::LOOKED_UP_FIRST;
use crate::engine::handles::shared::{EngineError, EngineShared};
use crate::kinds::register;
use crate::kinds::remote::readback::{ReadBack, WireForm, detect_drift};
use crate::model::intents::intent::Intent;
use crate::model::state::drift;
use crate::model::state::observed::{AppliedSpec, Observed};

/// Returns the baseline of an effect that is looked up first.
pub(crate) fn lookup_baseline() -> Value {
    json!({ LOOKED_UP_FIRST: true })
}

/// Returns true if an intent is looked up before it is sent: this state has not sent it.
pub(crate) fn is_looked_up_first(intent: &Intent) -> bool {
    intent.baseline.get(LOOKED_UP_FIRST).is_some()
}

/// The comparison of a found object, and its applied state.
pub(crate) struct FoundState {
    /// Fields that must equal the request, since nothing could change them since.
    pub(crate) expect: BTreeMap<String, Value>,
    /// The state that is applied at the service.
    pub(crate) applied: AppliedSpec,
}

/// Interprets an object that another state may have created and changed since; `None` if only this
/// state can have.
pub(crate) fn found_state(
    shared: &EngineShared,
    intent: &Intent,
    item: &Value,
) -> Result<Option<FoundState>, EngineError> {
    let looked_first = is_looked_up_first(intent);
    let epoch = shared.facts.epoch()?.filter(|epoch| epoch.looks_up_first);
    let shared_past = epoch.is_some_and(|epoch| looked_first || epoch.is_older(intent.id));
    let row = register::find(intent.key.kind.as_str()).filter(|_| shared_past);
    let back = row.and_then(|row| (row.read_back)(&intent.applied.spec));
    let Some((row, back)) = row.zip(back) else { return Ok(None) };
    let known = Observed::unknown(intent.merchant.clone(), intent.at);
    let known = Observed { applied: Some(intent.applied.clone()), ..known };
    let key = &shared.settings.planning.digest_key;
    let shown = detect_drift(back, row.fields, key, &known, item).map(|(applied, _)| applied);
    let applied = mark_masked_unknown(back, shown.unwrap_or_else(|| intent.applied.clone()));
    Ok(Some(FoundState { expect: immutable_fields(back, &intent.expect), applied }))
}

/// Marks the fields that the service only masks as unknown: they may have changed.
fn mark_masked_unknown(back: &ReadBack, mut applied: AppliedSpec) -> AppliedSpec {
    for shown in back.fields.iter().filter(|shown| shown.form == WireForm::Fingerprint) {
        drift::mark_unknown(&mut applied.spec, shown.path);
    }
    applied
}

/// Keeps the expected fields, except those that can change and are visible.
fn immutable_fields(back: &ReadBack, expect: &BTreeMap<String, Value>) -> BTreeMap<String, Value> {
    let first = |path: &str| path.split('.').next().unwrap_or_default().to_owned();
    let changes = |path: &str| back.fields.iter().any(|shown| first(shown.at) == first(path));
    let fixed = expect.iter().filter(|(path, _)| !changes(path));
    fixed.map(|(path, value)| (path.clone(), value.clone())).collect()
}
