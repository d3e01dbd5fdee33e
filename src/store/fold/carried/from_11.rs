//! From version 11: counts the failed hook runs of each merchant and script.

use std::collections::BTreeMap;

use super::each;
use crate::base::id::Key;
use crate::model::ran::FailedHook;
use crate::store::facts::{HOOKS_FAILED, ReadModelError, decode_entry, failed_count_key, write};
use crate::store::index::{Batch, Index};

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
