//! Quota of stored values: a run that would exceed the quota fails.

use serde_json::Value;

use super::session::RunOutput;
use crate::model::events::script_values::{
    ALL_BYTES_MAX, ALL_KEYS_MAX, BYTES_MAX, KEYS_MAX, ScriptValuesSize, sum,
};
use crate::scripting::interface::Reads;

/// Returns the quota that a run would exceed. A run that does not increase the stored size never
/// exceeds one.
pub(crate) fn exceeded_quota(reads: &dyn Reads, script: &str, done: &RunOutput) -> Option<String> {
    if done.stored.is_empty() && done.added.is_empty() {
        return None;
    }
    let (own, all) = reads.kept_size(script).ok()?;
    let (mut before, mut after) = (ScriptValuesSize::default(), ScriptValuesSize::default());
    let old = |key: &str| reads.kv(script, key).unwrap_or_default();
    let sums = done.added.iter().map(|(key, added)| {
        let old = old(key);
        (key, sum(&old, added).unwrap_or_default(), old)
    });
    let set = done.stored.iter().map(|(key, value)| (key, value.clone(), old(key)));
    let changes: Vec<(&String, Value, Value)> = set.chain(sums).collect();
    for (key, value, old) in &changes {
        before = before.plus(ScriptValuesSize::of(key, old));
        after = after.plus(ScriptValuesSize::of(key, value));
    }
    let grown = |size: ScriptValuesSize| size.without(before).plus(after);
    let bounds = [
        (after.keys > before.keys, grown(own).keys, KEYS_MAX, "keys of one script"),
        (after.bytes > before.bytes, grown(own).bytes, BYTES_MAX, "bytes of one script"),
        (after.keys > before.keys, grown(all).keys, ALL_KEYS_MAX, "keys of all scripts together"),
        (
            after.bytes > before.bytes,
            grown(all).bytes,
            ALL_BYTES_MAX,
            "bytes of all scripts together",
        ),
    ];
    let over = bounds.into_iter().find(|(grows, size, most, _)| *grows && size > most);
    over.map(|(_, size, most, what)| {
        format!(
            "it would keep {size} {what}, and {most} are kept at most: remove some with `kv_delete`"
        )
    })
}
