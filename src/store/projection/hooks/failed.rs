//! Folds failed hook runs: each has a place in the order of retries, and counts in its merchant's
//! ledger and by script.
//!
//! Guarantees: a script with [`FAILED_MAX`](crate::model::events::hook_run::FAILED_MAX) failed runs for a
//! merchant is stopped there. The script continues when fewer are left.

use crate::base::id::Key;
use crate::model::events::event::EventLedger;
use crate::model::events::hook_run::{FAILED_MAX, FailedHook};
use crate::store::index::ordered::{Batch, Index};
use crate::store::read_model::failed::{failed_count, failed_count_key, failed_key, retry_key};
use crate::store::read_model::model::{ReadModelError, read, write};

fn key(failed: &FailedHook) -> Vec<u8> {
    failed_key(&failed.merchant, &failed.event, &failed.failed.script)
}

/// Returns the count that includes a failed hook run.
fn count<'a>(ledger: &'a mut EventLedger, failed: &FailedHook) -> &'a mut u64 {
    if failed.failed.retry_at.is_some() { &mut ledger.retried } else { &mut ledger.dead }
}

/// Puts a failed hook run in the place of its former entry.
pub(crate) fn put(
    index: &dyn Index,
    batch: &mut Batch,
    ledger: &mut EventLedger,
    failed: &FailedHook,
) -> Result<(), ReadModelError> {
    remove(index, batch, ledger, &key(failed))?;
    schedule(batch, ledger, failed);
    script_count(index, batch, failed, |count| count.saturating_add(1))?;
    write(batch, &key(failed), failed)
}

/// Changes the number of a script's failed runs for a merchant.
fn script_count(
    index: &dyn Index,
    batch: &mut Batch,
    failed: &FailedHook,
    change: impl FnOnce(u64) -> u64,
) -> Result<(), ReadModelError> {
    let (merchant, script) = (&failed.merchant, &failed.failed.script);
    let count = change(failed_count(index, batch, merchant, script)?);
    let key = failed_count_key(merchant, script);
    if count == 0 {
        batch.remove(key);
        return Ok(());
    }
    write(batch, &key, &count)
}

/// Returns true if a script handles no further events of a merchant.
pub(crate) fn is_stopped(
    index: &dyn Index,
    batch: &Batch,
    merchant: &Key,
    script: &str,
) -> Result<bool, ReadModelError> {
    Ok(failed_count(index, batch, merchant, script)? >= FAILED_MAX)
}

/// Adds a failed hook run to the order of retries, and counts it.
pub(crate) fn schedule(batch: &mut Batch, ledger: &mut EventLedger, failed: &FailedHook) {
    if let Some(retry) = retry_key(failed) {
        batch.put(retry, key(failed));
    }
    let count = count(ledger, failed);
    *count = count.saturating_add(1);
}

/// Removes the failed hook run with this key, if it exists.
pub(crate) fn remove(
    index: &dyn Index,
    batch: &mut Batch,
    ledger: &mut EventLedger,
    key: &[u8],
) -> Result<(), ReadModelError> {
    let Some(known) = read::<FailedHook>(index, batch, key)? else { return Ok(()) };
    if let Some(retry) = retry_key(&known) {
        batch.remove(retry);
    }
    let count = count(ledger, &known);
    *count = count.saturating_sub(1);
    batch.remove(key);
    script_count(index, batch, &known, |count| count.saturating_sub(1))
}
