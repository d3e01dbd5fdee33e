//! From version 9: actions and failed hook runs are ordered by time and counted, and stored values
//! are measured. Posted ids without an event are listed, and payments are kept with the resource
//! that collects them.

use std::collections::BTreeMap;

use serde_json::Value;

use super::each;
use crate::base::id::Key;
use crate::model::event::{EventEntry, EventLedger, EventStands};
use crate::model::kept::KeptSize;
use crate::model::ran::{FailedHook, Pending, Scheduled};
use crate::store::facts::{
    EVENT_LEDGERS, EVENTS, FactError, HOOKS_FAILED, HOOKS_KEPT, WISHES, decode_entry, event_key,
    kept_size_key, ledger_key, numbers_of, parse_key, read, schedule_key, stranger_key, write,
};
use crate::store::fold::{hooks::failed, payments};
use crate::store::index::{Batch, Index};

/// Ledgers by merchant.
type Ledgers = BTreeMap<Key, EventLedger>;

pub(super) fn carry(index: &dyn Index) -> Result<(), FactError> {
    let mut ledgers = ledgers(index)?;
    strangers(index)?;
    pending(index, &mut ledgers)?;
    failures(index, &mut ledgers)?;
    kept(index)?;
    for merchant in ledgers.keys() {
        payments_of(index, merchant)?;
    }
    let mut batch = Batch::new();
    for (merchant, ledger) in &ledgers {
        write(&mut batch, &ledger_key(merchant), ledger)?;
    }
    Ok(index.apply(batch)?)
}

fn ledgers(index: &dyn Index) -> Result<Ledgers, FactError> {
    let mut ledgers = Ledgers::new();
    each(index, EVENT_LEDGERS, |_, (key, value)| {
        let merchant = parse_key(key.get(EVENT_LEDGERS.len()..).unwrap_or_default())?;
        ledgers.insert(merchant, decode_entry(key, value)?);
        Ok(())
    })?;
    Ok(ledgers)
}

/// Lists posted ids that match no event of the merchant's mode.
fn strangers(index: &dyn Index) -> Result<(), FactError> {
    each(index, EVENTS, |batch, (key, value)| {
        let entry: EventEntry = decode_entry(key, value)?;
        let name = key.get(EVENTS.len()..).unwrap_or_default();
        let mut parts = name.splitn(2, |byte| *byte == 0);
        let (merchant, id) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        match entry.stands {
            EventStands::OtherMode | EventStands::Forged => {
                let id = String::from_utf8_lossy(id);
                write(batch, &stranger_key(&parse_key(merchant)?, &id), &entry.first)
            }
            EventStands::Waiting | EventStands::Told(_) => Ok(()),
        }
    })
}

/// Adds each pending action request to the order of due times.
fn pending(index: &dyn Index, ledgers: &mut Ledgers) -> Result<(), FactError> {
    each(index, WISHES, |batch, (key, value)| {
        let pending: Pending = decode_entry(key, value)?;
        let scheduled = Scheduled::of(&pending);
        let ledger = ledgers.entry(pending.id.merchant).or_default();
        ledger.pending = ledger.pending.saturating_add(1);
        write(batch, &schedule_key(&scheduled), &scheduled)
    })
}

/// Adds each failed hook run to the order of retries.
fn failures(index: &dyn Index, ledgers: &mut Ledgers) -> Result<(), FactError> {
    each(index, HOOKS_FAILED, |batch, (key, value)| {
        let failed: FailedHook = decode_entry(key, value)?;
        let ledger = ledgers.entry(failed.merchant.clone()).or_default();
        failed::list(batch, ledger, &failed);
        Ok(())
    })
}

/// Measures the values that scripts store. A null value is removed.
fn kept(index: &dyn Index) -> Result<(), FactError> {
    let mut sizes: BTreeMap<String, KeptSize> = BTreeMap::new();
    each(index, HOOKS_KEPT, |batch, (entry, value)| {
        let name = String::from_utf8_lossy(entry.get(HOOKS_KEPT.len()..).unwrap_or_default());
        let Some((script, key)) = name.split_once('\0') else { return Ok(()) };
        let value: Value = decode_entry(entry, value)?;
        if value.is_null() {
            batch.remove(entry.clone());
        }
        let size = sizes.entry(script.to_owned()).or_default();
        *size = size.and(KeptSize::of(key, &value));
        Ok(())
    })?;
    let mut batch = Batch::new();
    for (script, size) in &sizes {
        write(&mut batch, &kept_size_key(script), size)?;
    }
    Ok(index.apply(batch)?)
}

/// Applies a merchant's events to payments, in the order in which they became known.
fn payments_of(index: &dyn Index, merchant: &Key) -> Result<(), FactError> {
    each(index, &numbers_of(merchant), |batch, (key, value)| {
        let id: String = decode_entry(key, value)?;
        let entry: Option<EventEntry> = read(index, batch, &event_key(merchant, &id))?;
        let Some(EventStands::Told(told)) = entry.map(|entry| entry.stands) else { return Ok(()) };
        payments::told(index, batch, &told)
    })
}
