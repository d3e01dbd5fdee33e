//! Reads the service's list before the first creation of a process: after a snapshot of the whole
//! machine was restored, the state does not know of objects created since.
//!
//! A list is read once per process and merchant, by the first creation; other creations wait for
//! it. Objects with marks that this state does not know stop their merchant, as after a lost state.

use std::collections::BTreeSet;

use crate::base::id::Key;
use crate::effects::core::repeat_risk::{RepeatRisk, repeat_risk};
use crate::effects::core::row::{EffectRow, RemoteAnswer, RemoteQuery};
use crate::engine::handles::access::CredentialSource;
use crate::engine::handles::shared::{EngineError, EngineShared};
use crate::engine::handles::task_result::{EffectJob, TaskResult};
use crate::engine::readers::read::ReadFailure;
use crate::engine::readers::{read, unknown_objects};
use crate::kinds::register;
use crate::kinds::remote::readback::ReadBack;
use crate::model::record::Record;

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
    let cell = shared.read_lists().cell(&effect.merchant, back.list_name);
    let wallet = CredentialSource { account: None, ..job.wallet.clone() };
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
    let found = unknown_objects::changed_unknown_objects(shared, merchant, (back, at), &items)?;
    let records: Vec<Record> =
        found.into_iter().map(|found| Record::UnknownObjects(Box::new(found))).collect();
    if !records.is_empty() {
        shared.write(Vec::new(), records).await?;
    }
    Ok(())
}

/// Returns those of these resources that unknown objects with marks of ours block.
fn blocked_keys(shared: &EngineShared, keys: [&Key; 2]) -> Result<BTreeSet<Key>, EngineError> {
    let mut barred = BTreeSet::new();
    for key in keys {
        let known = shared.facts.observed_state(key)?;
        if known.is_some_and(|known| !known.unknown_objects.is_empty()) {
            barred.insert(key.clone());
        }
    }
    Ok(barred)
}
