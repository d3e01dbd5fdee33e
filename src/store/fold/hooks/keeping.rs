//! Folds the values that scripts store, with their sizes.

use serde_json::Value;

use super::asked::Ended;
use crate::model::hook::{Run, Wish};
use crate::model::kept::{KeptSize, sum};
use crate::model::ran::{Fate, Granted, Pending, Ran, WishId};
use crate::store::facts::{FactError, kept_key, kept_size_key, read, write};
use crate::store::index::{Batch, Index};

/// Verb and name of an addition that failed.
const ADD: &str = "kv_add";
const ADD_NAME: &str = "kv-add";

/// Stores the values of one run. Returns the additions that failed, since another run changed the
/// value's type meanwhile.
pub(super) fn keep(
    index: &dyn Index,
    batch: &mut Batch,
    (ran, run): (&Ran, &Run),
) -> Result<Vec<Ended>, FactError> {
    let mut refused = Vec::new();
    if run.kept.is_empty() && run.added.is_empty() {
        return Ok(refused);
    }
    let size_key = kept_size_key(&run.script);
    let mut size: KeptSize = read(index, batch, &size_key)?.unwrap_or_default();
    for (key, value) in &run.kept {
        let before = kept(index, batch, run, key)?;
        size = put(batch, run, (key, &before, value), size)?;
    }
    for (key, added) in &run.added {
        let before = kept(index, batch, run, key)?;
        match sum(&before, added) {
            Some(value) => size = put(batch, run, (key, &before, &value), size)?,
            None => refused.extend(misfit(ran, run, key)),
        }
    }
    write(batch, &size_key, &size)?;
    Ok(refused)
}

fn kept(index: &dyn Index, batch: &Batch, run: &Run, key: &str) -> Result<Value, FactError> {
    Ok(read(index, batch, &kept_key(&run.script, key))?.unwrap_or_default())
}

/// Replaces a value; null removes the key.
fn put(
    batch: &mut Batch,
    run: &Run,
    (key, before, value): (&str, &Value, &Value),
    size: KeptSize,
) -> Result<KeptSize, FactError> {
    let entry = kept_key(&run.script, key);
    if value.is_null() {
        batch.remove(entry);
    } else {
        write(batch, &entry, value)?;
    }
    Ok(size.without(KeptSize::of(key, before)).and(KeptSize::of(key, value)))
}

fn misfit(ran: &Ran, run: &Run, key: &str) -> Option<Ended> {
    let (merchant, event, name) = (ran.merchant.clone(), ran.event.clone(), ADD_NAME.parse().ok()?);
    let id = WishId { merchant, event, name };
    let wish = Wish {
        name: id.name.clone(),
        verb: ADD.to_owned(),
        merchant: None,
        fields: Value::Null,
        at: None,
        at_most: None,
        content: None,
    };
    let message =
        format!("the value of `{key}` has another type or currency by now: nothing was added");
    let granted = Granted { id: id.clone(), fate: Fate::Invalid, message, at: ran.at };
    let pending = Pending { id, wish, script: run.script.clone(), unsure: false, at: ran.at };
    Some((pending, granted))
}
