//! Folds epochs: a restore opens a new one, discards earlier excuses, and a person ends the doubt.

use chrono::{DateTime, Utc};

use super::doubt;
use crate::base::id::{IntentId, Key};
use crate::model::intents::intent::{Intent, IntentProgress, IntentState};
use crate::model::record::StateOwner;
use crate::model::state::lifecycle::{Epoch, Release, Restored};
use crate::model::state::observed::Observed;
use crate::store::error::FoldError;
use crate::store::index::ordered::{Batch, Index};
use crate::store::projection::hooks::mark_done;
use crate::store::read_model::hooks::doubt_key;
use crate::store::read_model::model::{
    BINDING, EMPTY_REMOTE, EPOCH, NEXT_INTENT, OBSERVED, ReadModelError, read, write,
};
use crate::store::read_model::operator::{absence_key, release_key};

/// The fact that marks a merchant whose readable objects were surveyed.
const SURVEYED: &str = "surveyed";

/// Opens an epoch for a restored backup. An operator's earlier declaration about the service no
/// longer counts, and every merchant is surveyed again before its first effect.
pub(crate) fn begin_epoch(
    index: &dyn Index,
    batch: &mut Batch,
    restored: &Restored,
) -> Result<(), FoldError> {
    let bound: Option<StateOwner> = read(index, batch, BINDING)?;
    if let Some(mut bound) = bound {
        if restored.epoch <= bound.epoch {
            let detail = format!("epoch {} after epoch {}", restored.epoch, bound.epoch);
            return Err(FoldError::Law { law: 5, detail });
        }
        bound.epoch = restored.epoch;
        write(batch, BINDING, &bound)?;
    }
    let next: Option<IntentId> = read(index, batch, NEXT_INTENT)?;
    let first_intent = next.unwrap_or_else(|| IntentId::new(1));
    let epoch = Epoch {
        began: restored.clone(),
        first_intent,
        holds_unfindable: true,
        looks_up_first: true,
    };
    write(batch, EPOCH, &epoch)?;
    batch.remove(EMPTY_REMOTE);
    doubt::doubt_pending(index, batch)?;
    forget_surveys(index, batch)?;
    forget_releases(index, batch)
}

/// Makes every merchant count as not surveyed.
fn forget_surveys(index: &dyn Index, batch: &mut Batch) -> Result<(), FoldError> {
    for (key, _) in batch.scan(index, OBSERVED).map_err(ReadModelError::from)? {
        let known: Option<Observed> = read(index, batch, &key)?;
        let Some(mut known) = known else { continue };
        let facts = known.facts.as_object_mut();
        if facts.and_then(|facts| facts.remove(SURVEYED)).is_some() {
            write(batch, &key, &known)?;
        }
    }
    Ok(())
}

/// Discards releases and searches, which counted for the epoch before.
fn forget_releases(index: &dyn Index, batch: &mut Batch) -> Result<(), FoldError> {
    for prefix in [
        crate::store::read_model::model::RELEASED,
        crate::store::read_model::model::CONFIRMED_ABSENT,
    ] {
        for (key, _) in batch.scan(index, prefix).map_err(ReadModelError::from)? {
            batch.remove(key);
        }
    }
    Ok(())
}

/// Applies a person's word that nothing was sent between the backup and the restore, or that a lost
/// state did not create these resources.
pub(crate) fn release(
    index: &dyn Index,
    batch: &mut Batch,
    release: &Release,
) -> Result<(), FoldError> {
    let epoch: Option<Epoch> = read(index, batch, EPOCH)?;
    match epoch {
        Some(_) if release.done => return Ok(mark_done(index, batch, release)?),
        Some(epoch) if release.keys.is_empty() => {
            return Ok(write(
                batch,
                EPOCH,
                &Epoch { holds_unfindable: false, looks_up_first: false, ..epoch },
            )?);
        }
        None if release.done => return Ok(()),
        Some(_) | None => {}
    }
    for key in &release.keys {
        write(batch, &release_key(key), &release.at)?;
    }
    Ok(())
}

/// Applies the declaration that nothing at the service is ours: nothing is on hold for the epoch
/// any more. An effect that can be looked up is still looked up.
pub(crate) fn end_holds(index: &dyn Index, batch: &mut Batch) -> Result<(), FoldError> {
    let epoch: Option<Epoch> = read(index, batch, EPOCH)?;
    match epoch {
        Some(epoch) => Ok(write(batch, EPOCH, &Epoch { holds_unfindable: false, ..epoch })?),
        None => Ok(()),
    }
}

/// Records that an intent in doubt was not sent: it is confirmed absent, or a person says so. In
/// this epoch the effect need not be looked up again.
pub(crate) fn note_confirmed_absent(
    index: &dyn Index,
    batch: &mut Batch,
    (intent, before): (&Intent, &IntentState),
    (progress, at): (&IntentProgress, DateTime<Utc>),
) -> Result<(), FoldError> {
    let proved = matches!(before, IntentState::InDoubt { .. } | IntentState::OnHold { .. });
    if !proved || !matches!(progress, IntentProgress::NotSent { .. }) {
        return Ok(());
    }
    let epoch: Option<Epoch> = read(index, batch, EPOCH)?;
    let doubted =
        batch.get(index, &doubt_key(&intent.key)).map_err(ReadModelError::from)?.is_some();
    if doubted || epoch.is_some_and(|epoch| epoch.looks_up_first) {
        let key: Key = intent.key.clone();
        write(batch, &absence_key(&intent.effect, intent.source_id.as_str()), &(key, at))?;
    }
    Ok(())
}
