//! State of earlier versions, brought to the form of this one when it is loaded.

use serde::de::IgnoredAny;
use serde_json::Value;

use crate::sandbox::answer::Result;
use crate::sandbox::state::objects::{
    ObjectKind, Stored, TIMERS, TimerEntry, timer_key, timer_moment,
};
use crate::store::index::ordered::{Batch, Index};

/// Keys that only earlier versions wrote: lengths of lists, times of events, and timers of the
/// expiry of methods.
const FORMER: [&[u8]; 3] = [b"n/", b"evt/", b"x/expiry/"];

/// Rewrites what an earlier version wrote, if there is anything of it.
pub(crate) fn upgrade(index: &dyn Index) -> Result<()> {
    let mut batch = Batch::new();
    for prefix in FORMER {
        index.scan(prefix)?.into_iter().for_each(|(key, _)| batch.remove(key));
    }
    if batch.is_empty() {
        return Ok(());
    }
    move_events(index, &mut batch)?;
    name_expiries(index, &mut batch)?;
    Ok(index.apply(batch)?)
}

/// Moves each event from its id to its number. A list of events held their ids.
fn move_events(index: &dyn Index, batch: &mut Batch) -> Result<()> {
    for (place, id) in index.scan(format!("l/{}", ObjectKind::EVENT.list("")).as_bytes())? {
        let Ok(id) = serde_json::from_slice::<String>(&id) else { continue };
        let key = ObjectKind::EVENT.object(&id);
        let Some(kept) = index.get(key.as_bytes())? else { continue };
        let event: Stored<Value, IgnoredAny> = serde_json::from_slice(&kept)?;
        let text = String::from_utf8_lossy(&place);
        let digits = text.rsplit('/').next().unwrap_or_default();
        let number = u64::MAX.saturating_sub(u64::from_str_radix(digits, 16).unwrap_or(u64::MAX));
        batch.put(place, serde_json::to_vec(&event.object)?);
        batch.put(key, serde_json::to_vec(&number)?);
    }
    Ok(())
}

/// Returns the kind and id of the object whose method's expiry this entry waits for.
fn expiring(entry: TimerEntry) -> Option<(ObjectKind, String)> {
    if let TimerEntry::Expiry { id, .. } = entry {
        return Some((ObjectKind::RECURRING_CHARGE, id));
    }
    if let TimerEntry::SavedExpiry { id, .. } = entry { Some((ObjectKind::CARD, id)) } else { None }
}

/// Gives each timer of an expiry the number of its object, which is its name now.
fn name_expiries(index: &dyn Index, batch: &mut Batch) -> Result<()> {
    for (key, entry) in index.scan(TIMERS.as_bytes())? {
        let Some((kind, id)) = expiring(serde_json::from_slice(&entry)?) else { continue };
        let kept = index.get(kind.object(&id).as_bytes())?;
        let moment = timer_moment(&String::from_utf8_lossy(&key));
        batch.remove(key);
        let Some((kept, moment)) = kept.zip(moment) else { continue };
        let kept: Stored<IgnoredAny, IgnoredAny> = serde_json::from_slice(&kept)?;
        batch.put(timer_key(moment, kept.sequence), entry);
    }
    Ok(())
}
