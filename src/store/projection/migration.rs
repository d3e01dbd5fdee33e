//! Converts the entries of an older fold's snapshot to the present form.
//!
//! Purpose: the index cannot be rebuilt from records that the journal no longer holds.
//!
//! Guarantees: a pure function of the entries, applied in the order of the versions. Entries that
//! no step names keep their bytes. Facts that an older version did not record stay unknown.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::base::id::Key;
use crate::model::events::event::{EventEntry, EventLedger, EventStatus, VerifiedEvent};
use crate::model::events::hook_run::{FailedHook, PendingAction, Scheduled};
use crate::model::events::scripts::ScriptValuesSize;
use crate::model::remote_object::{Freshness, RemoteObject};
use crate::model::state::health::PaymentResult;
use crate::store::error::Folded;
use crate::store::index::ordered::{Batch, Index, KeyValue};
use crate::store::projection::ledger::schedule_retry;
use crate::store::projection::observed::apply_payment;
use crate::store::read_model::hooks::{
    ACTION_REQUESTS, FAILED_COUNTS, HOOKS_FAILED, STORED_SIZES, STORED_VALUES, schedule_key,
};
use crate::store::read_model::model::{Changes, ParsedKey as _, decode};
use crate::store::read_model::resources::{EVENT_LEDGERS, EVENT_NUMBERS, EVENTS, EVENTS_UNMATCHED};

/// The oldest fold whose snapshots can be converted.
pub(crate) const OLDEST: u32 = 9;

/// Entries read at once, and changes written at once.
const PAGE: usize = 256;

type Conversion = fn(&dyn Index) -> Folded;

/// The steps, each with the version that it converts. A version without a step has the form of the
/// version before.
const STEPS: [(u32, Conversion); 3] =
    [(9, convert_from_9), (11, convert_from_11), (12, convert_from_12)];

/// Converts the entries of the given version, which fill the index, to the present form.
pub(crate) fn convert(index: &dyn Index, version: u32) -> Folded {
    STEPS.iter().filter(|(from, _)| *from >= version).try_for_each(|(_, step)| step(index))
}

/// Visits every entry with this prefix, page by page, and applies the changes of the visits.
fn each(
    index: &dyn Index,
    prefix: &[u8],
    mut visit: impl FnMut(&mut Changes<'_>, &KeyValue) -> Folded,
) -> Folded {
    let mut after: Option<Vec<u8>> = None;
    loop {
        let page = index.scan_from(prefix, after.as_deref(), PAGE)?;
        apply(index, |changes| page.iter().try_for_each(|entry| visit(changes, entry)))?;
        let Some((last, _)) = page.into_iter().last() else { return Ok(()) };
        after = Some(last);
    }
}

/// Applies the changes of `change` in one transaction.
fn apply(index: &dyn Index, change: impl FnOnce(&mut Changes<'_>) -> Folded) -> Folded {
    let mut batch = Batch::new();
    change(&mut Changes::new(index, &mut batch))?;
    Ok(index.apply(batch)?)
}

fn convert_from_11(index: &dyn Index) -> Folded {
    let mut counts: BTreeMap<(Key, String), u64> = BTreeMap::new();
    each(index, HOOKS_FAILED.prefix(), |_, (key, value)| {
        let failed: FailedHook = decode(key, value)?;
        let count = counts.entry((failed.merchant, failed.failed.script)).or_default();
        *count = count.saturating_add(1);
        Ok(())
    })?;
    apply(index, |changes| {
        for ((merchant, script), count) in &counts {
            FAILED_COUNTS.put(changes, (merchant, script), count)?;
        }
        Ok(())
    })
}

/// Counts the payments that the kept events show, as the fold counts them.
fn convert_from_12(index: &dyn Index) -> Folded {
    for (merchant, mut ledger) in read_ledgers(index)? {
        let mut known: BTreeMap<String, RemoteObject> = BTreeMap::new();
        each_event(index, &merchant, |_, told| {
            let Some(object) = told.object.filter(|_| told.freshness == Freshness::Newer) else {
                return Ok(());
            };
            let (previous, known_version) = (told.previous.as_ref(), known.get(&object.id));
            if let Some(result) = PaymentResult::first_shown(&object, previous, known_version) {
                ledger.payments.count(result);
            }
            known.insert(object.id.clone(), object);
            Ok(())
        })?;
        apply(index, |changes| Ok(EVENT_LEDGERS.put(changes, &merchant, &ledger)?))?;
    }
    Ok(())
}

type Ledgers = BTreeMap<Key, EventLedger>;

fn convert_from_9(index: &dyn Index) -> Folded {
    let mut ledgers = read_ledgers(index)?;
    list_unmatched(index)?;
    schedule_pending(index, &mut ledgers)?;
    schedule_retries(index, &mut ledgers)?;
    measure_stored_values(index)?;
    for merchant in ledgers.keys() {
        apply_payments(index, merchant)?;
    }
    apply(index, |changes| {
        for (merchant, ledger) in &ledgers {
            EVENT_LEDGERS.put(changes, merchant, ledger)?;
        }
        Ok(())
    })
}

fn read_ledgers(index: &dyn Index) -> Folded<Ledgers> {
    let mut ledgers = Ledgers::new();
    each(index, EVENT_LEDGERS.prefix(), |_, (key, value)| {
        ledgers.insert(EVENT_LEDGERS.parse(key)?, decode(key, value)?);
        Ok(())
    })?;
    Ok(ledgers)
}

/// Lists posted ids that match no event of the merchant's mode.
fn list_unmatched(index: &dyn Index) -> Folded {
    each(index, EVENTS.prefix(), |changes, (key, value)| {
        let entry: EventEntry = decode(key, value)?;
        let name = key.get(EVENTS.prefix().len()..).unwrap_or_default();
        let mut parts = name.splitn(2, |byte| *byte == 0);
        let (merchant, id) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        match entry.status {
            EventStatus::OtherMode | EventStatus::Forged => {
                let id = String::from_utf8_lossy(id);
                let key = (&Key::parse(merchant)?, &*id);
                Ok(EVENTS_UNMATCHED.put(changes, key, &entry.first)?)
            }
            EventStatus::Waiting | EventStatus::Verified(_) => Ok(()),
        }
    })
}

/// Adds each pending action request to the order of due times.
fn schedule_pending(index: &dyn Index, ledgers: &mut Ledgers) -> Folded {
    each(index, ACTION_REQUESTS.prefix(), |changes, (key, value)| {
        let pending: PendingAction = decode(key, value)?;
        let scheduled = Scheduled::of(&pending);
        let ledger = ledgers.entry(pending.id.merchant).or_default();
        ledger.pending = ledger.pending.saturating_add(1);
        Ok(changes.write(&schedule_key(&scheduled), &scheduled)?)
    })
}

/// Adds each failed hook run to the order of retries.
fn schedule_retries(index: &dyn Index, ledgers: &mut Ledgers) -> Folded {
    each(index, HOOKS_FAILED.prefix(), |changes, (key, value)| {
        let failed: FailedHook = decode(key, value)?;
        schedule_retry(changes, ledgers.entry(failed.merchant.clone()).or_default(), &failed);
        Ok(())
    })
}

/// Measures the values that scripts store. A null value is removed.
fn measure_stored_values(index: &dyn Index) -> Folded {
    let mut sizes: BTreeMap<String, ScriptValuesSize> = BTreeMap::new();
    each(index, STORED_VALUES.prefix(), |changes, (entry, value)| {
        let name =
            String::from_utf8_lossy(entry.get(STORED_VALUES.prefix().len()..).unwrap_or_default());
        let Some((script, key)) = name.split_once('\0') else { return Ok(()) };
        let value: Value = decode(entry, value)?;
        if value.is_null() {
            changes.batch.remove(entry.clone());
        }
        let size = sizes.entry(script.to_owned()).or_default();
        *size = size.plus(ScriptValuesSize::of(key, &value));
        Ok(())
    })?;
    apply(index, |changes| {
        for (script, size) in &sizes {
            STORED_SIZES.put(changes, script, size)?;
        }
        Ok(())
    })
}

/// Applies a merchant's events to payments.
fn apply_payments(index: &dyn Index, merchant: &Key) -> Folded {
    each_event(index, merchant, |changes, told| apply_payment(changes, &told))
}

/// Visits a merchant's verified events in the order in which they became known.
fn each_event(
    index: &dyn Index,
    merchant: &Key,
    mut visit: impl FnMut(&mut Changes<'_>, VerifiedEvent) -> Folded,
) -> Folded {
    each(index, EVENT_NUMBERS.under(merchant).prefix(), |changes, (key, value)| {
        let id: String = decode(key, value)?;
        let entry = EVENTS.get(changes, (merchant, &id))?;
        let Some(EventStatus::Verified(told)) = entry.map(|entry| entry.status) else {
            return Ok(());
        };
        visit(changes, *told)
    })
}

#[cfg(test)]
pub(crate) mod tests;
