//! Gates for effects after a restore.
//!
//! An effect that may have been sent since the backup is looked up before it is sent; one that cannot be
//! looked up is not sent. A change of an existing object doubles nothing, but an older one of the lost
//! state may still be on its way and would overtake it, so it waits until those calls are over.
//!
//! The list of a kind is read before its first creation by a process: after a snapshot of the whole
//! machine was restored, the state does not know of objects created since. It is read once per process
//! and merchant; other creations wait for it. Objects with marks that this state does not know stop
//! their merchant, as after a lost state.

use std::collections::BTreeSet;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use crate::base::clock::timestamp;
use crate::base::fault_injection;
use crate::base::id::{Key, Mode};
use crate::effects::core::evidence::{RepeatRisk, is_reported_by_webhook_only, repeat_risk};
use crate::effects::core::row::{EffectRow, RemoteAnswer, RemoteQuery};
use crate::engine::executor::progress::Attempt;
use crate::engine::executor::settle;
use crate::engine::handles::access::CredentialSource;
use crate::engine::handles::shared::{EngineResult, EngineShared};
use crate::engine::handles::task_result::{EffectJob, TaskFailure, TaskResult};
use crate::engine::known::known_state::{needs_release, unprovable_reason};
use crate::engine::readers::read::ReadFailure;
use crate::engine::readers::{compare, read};
use crate::kinds::register;
use crate::kinds::remote::readback::ReadBack;
use crate::model::effect::Effect;
use crate::model::plan::Reason;
use crate::model::record::Record;
use crate::store::read_model::model::ReadModelError;
use crate::store::vault::keys::SealedValue;

/// The reason to look up an action whose event existed when this state began.
const BEFORE: &str = "its event was there before the list of events was read first: a state that is lost may have answered it";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum EpochGate {
    Open,
    /// It is looked up first, for this reason.
    LookUp(String),
    /// It is not sent before this duration is over, for this reason.
    Wait(String, Duration),
    /// It is not sent.
    Closed(TaskFailure),
}

/// Decides about an effect. Everything that is sent passes here; plans contain the same decision, except
/// for the wait of changes.
pub(crate) fn epoch_gate(
    shared: &EngineShared,
    row: &EffectRow,
    effect: &Effect,
) -> EngineResult<EpochGate> {
    if fault_injection::is_active("restore-without-epoch") {
        return Ok(EpochGate::Open);
    }
    let earlier = repeat_risk(row, effect);
    if earlier == RepeatRisk::Harmless {
        return gate_of_harmless(shared, effect);
    }
    if earlier == RepeatRisk::Undetectable {
        let why = match unprovable_reason(&shared.facts, &effect.key)? {
            None if awaits_approval(shared, row, effect)? => {
                Some(Reason::MaybeSubmitted(Box::new(effect.key.clone())).to_string())
            }
            why => why,
        };
        return Ok(why.map_or(EpochGate::Open, |why| EpochGate::Closed(TaskFailure::Blocked(why))));
    }
    let reason = match shared.facts.epoch()? {
        Some(epoch) if !epoch.looks_up_first => return Ok(EpochGate::Open),
        Some(epoch) => epoch.lookup_reason(),
        None if shared.facts.is_doubted(&effect.key)? => BEFORE.to_owned(),
        None => return Ok(EpochGate::Open),
    };
    let excused = shared.facts.is_confirmed_absent(effect.name, effect.source_id.as_str())?
        || shared.facts.is_released(&effect.key)?;
    Ok(if excused { EpochGate::Open } else { EpochGate::LookUp(reason) })
}

/// Lets an effect out that doubles nothing; a change of an existing object waits for the lost calls.
fn gate_of_harmless(shared: &EngineShared, effect: &Effect) -> EngineResult<EpochGate> {
    let Some(rest) = shared.rest_of_lost_calls()? else { return Ok(EpochGate::Open) };
    if effect.target.is_none() || shared.facts.is_released(&effect.key)? {
        return Ok(EpochGate::Open);
    }
    let end = shared.now().checked_add_signed(TimeDelta::from_std(rest).unwrap_or_default());
    let until = end.map_or_else(String::new, |end| timestamp(&end));
    let reason = format!(
        "until {until} (call timeout and doubt.grace after the restore) an older change of the lost state may still take \
         effect; then it is sent"
    );
    Ok(EpochGate::Wait(reason, rest))
}

/// Returns true if a live application waits for a person: a lost state may have submitted it.
fn awaits_approval(
    shared: &EngineShared,
    row: &EffectRow,
    effect: &Effect,
) -> Result<bool, ReadModelError> {
    let is_live = is_reported_by_webhook_only(row) && effect.mode == Mode::Live;
    Ok(is_live && shared.settings.cautious_start && needs_release(&shared.facts, &effect.key)?)
}

/// Writes an intent and looks its effect up; only a confirmed absence lets the next try send it.
pub(crate) async fn look_first(
    attempt: Attempt<'_>,
    (blobs, spent): (Vec<SealedValue>, Option<Record>),
    reason: String,
) -> EngineResult<TaskResult> {
    let Attempt { shared, intent, .. } = attempt;
    let promise = Record::Intent(Box::new(intent.clone()));
    shared.write(blobs, spent.into_iter().chain([promise]).collect()).await?;
    let reason = with_deadline(reason, settle::deadline(shared, intent)?, shared.now());
    attempt.write_doubt(reason).await?;
    attempt.settle(1).await
}

/// Adds to the reason of a lookup the moment at which it can end, if that is in the future.
fn with_deadline(reason: String, deadline: DateTime<Utc>, now: DateTime<Utc>) -> String {
    if deadline <= now {
        return reason;
    }
    let until = timestamp(&deadline);
    format!(
        "{reason}; until {until} (call timeout and doubt.grace after this state began) it may still take effect, and then \
         it is sent if nothing shows it"
    )
}

/// Reads the list that contains objects of this effect's sort, unless this process has read it.
/// Returns the result of the task if something blocks the effect.
pub(crate) async fn read_before_create(
    shared: &EngineShared,
    row: &EffectRow,
    job: &EffectJob,
) -> Result<Option<TaskResult>, ReadFailure> {
    let effect = &job.effect;
    let back = register::find(effect.key.kind.as_str())
        .and_then(|kind| (kind.read_back)(&effect.applied.spec))
        .filter(|_| shared.settings.first_look && repeat_risk(row, effect) == RepeatRisk::Findable);
    let Some(back) = back else { return Ok(None) };
    let cell = shared.read_lists.cell(&effect.merchant, back.list_name);
    let wallet = job.wallet.clone().with_account(None);
    cell.get_or_try_init(|| read_list(shared, &effect.merchant, back, &wallet)).await?;
    let touched = blocked_keys(shared, [&effect.key, &effect.merchant])?;
    Ok((!touched.is_empty()).then(|| TaskResult::BlockedByUnknown(effect.key.clone(), touched)))
}

/// Reads a list, and records the objects that this state does not know.
async fn read_list(
    shared: &EngineShared,
    merchant: &Key,
    back: &'static ReadBack,
    wallet: &CredentialSource,
) -> Result<(), ReadFailure> {
    let at = shared.now();
    let answers = read::answers(shared, &[RemoteQuery::list((back.list)())], wallet).await?;
    let Some(RemoteAnswer::Items(items)) = answers.into_iter().next() else { return Ok(()) };
    let found = compare::changed_unknown_objects(shared, merchant, (back, at), &items)?;
    let records: Vec<Record> =
        found.into_iter().map(|found| Record::UnknownObjects(Box::new(found))).collect();
    if !records.is_empty() {
        shared.write(Vec::new(), records).await?;
    }
    Ok(())
}

/// Returns those of these resources that unknown objects with marks of ours block.
fn blocked_keys(shared: &EngineShared, keys: [&Key; 2]) -> EngineResult<BTreeSet<Key>> {
    let mut barred = BTreeSet::new();
    for key in keys {
        let known = shared.facts.observed_state(key)?;
        if known.is_some_and(|known| !known.unknown_objects.is_empty()) {
            barred.insert(key.clone());
        }
    }
    Ok(barred)
}

#[cfg(test)]
mod tests;
