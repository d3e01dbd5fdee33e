//! From version 11: counts the failed hook runs of each merchant and script.

use std::collections::BTreeMap;

use super::each;
use crate::base::id::Key;
use crate::model::events::hook_run::FailedHook;
use crate::store::index::ordered::{Batch, Index};
use crate::store::read_model::failed::{HOOKS_FAILED, failed_count_key};
use crate::store::read_model::model::{ReadModelError, decode_entry, write};

pub(super) fn convert(index: &dyn Index) -> Result<(), ReadModelError> {
    let mut counts: BTreeMap<(Key, String), u64> = BTreeMap::new();
    each(index, HOOKS_FAILED, |_, (key, value)| {
        let failed: FailedHook = decode_entry(key, value)?;
        let count = counts.entry((failed.merchant, failed.failed.script)).or_default();
        *count = count.saturating_add(1);
        Ok(())
    })?;
    let mut batch = Batch::new();
    for ((merchant, script), count) in &counts {
        write(&mut batch, &failed_count_key(merchant, script), count)?;
    }
    Ok(index.apply(batch)?)
}
