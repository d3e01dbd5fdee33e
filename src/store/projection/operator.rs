//! Folds orders of people: suspensions, uses of saved plans, rotations of webhook addresses, and
//! epochs: a restore opens a new one, discards earlier excuses, and a person ends the doubt.

use chrono::{DateTime, Utc};

use crate::base::id::{IntentId, Key};
use crate::model::intent::{Intent, IntentProgress, IntentState};
use crate::model::operator::{PlanUse, Rotation, RotationRecord, Suspension, WebhookAddress};
use crate::model::record::StateOwner;
use crate::model::state::lifecycle::{Epoch, Release, Restored};
use crate::model::state::observed::Observed;
use crate::store::error::FoldError;
use crate::store::index::ordered::{Batch, Index};
use crate::store::projection::events;
use crate::store::projection::hooks::mark_done;
use crate::store::read_model::hooks::doubt_key;
use crate::store::read_model::model::{
    BINDING, EMPTY_REMOTE, EPOCH, NEXT_INTENT, OBSERVED, PLANS, ReadModel, ReadModelError,
    plan_key, read, suspension_key, write,
};
use crate::store::read_model::operator::{absence_key, release_key, rotation_key};

/// Rotates the addresses that the record names.
pub(crate) fn rotate_addresses(
    index: &dyn Index,
    batch: &mut Batch,
    rotated: &RotationRecord,
) -> Result<(), ReadModelError> {
    for address in &rotated.addresses {
        let key = rotation_key(address);
        let known: Option<(WebhookAddress, Rotation)> = read(index, batch, &key)?;
        let known = known.map(|(_, rotation)| rotation).unwrap_or_default();
        write(batch, &key, &(address, known.after(rotated.step, rotated.at)))?;
    }
    Ok(())
}

/// Records the use of a saved plan. Law 5: a plan's token is used once.
pub(crate) fn use_plan(
    index: &dyn Index,
    batch: &mut Batch,
    used: &PlanUse,
) -> Result<(), FoldError> {
    let key = plan_key(&used.token);
    if let Some(before) = read::<PlanUse>(index, batch, &key)? {
        let detail = format!("{} is used again, first at {}", used.plan, before.at);
        return Err(FoldError::Law { law: 5, detail });
    }
    Ok(write(batch, &key, used)?)
}

impl ReadModel {
    /// Returns every saved plan that was used.
    pub fn used_plans(&self) -> Result<Vec<PlanUse>, ReadModelError> {
        self.list(PLANS)
    }
}

/// Suspends a resource. A later suspension replaces an earlier one.
pub(crate) fn suspend(batch: &mut Batch, suspension: &Suspension) -> Result<(), ReadModelError> {
    write(batch, &suspension_key(&suspension.key), suspension)
}

/// Resumes a resource.
pub(crate) fn resume(batch: &mut Batch, key: &Key) {
    batch.remove(suspension_key(key));
}

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
    events::doubt_pending(index, batch)?;
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
pub(crate) fn apply_release(
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::events::event::{Polled, ReceivedWebhook, WebhookContent};
    use crate::model::events::hook_run::{ActionOutcome, ActionRequestId, ActionResult};
    use crate::model::operator::{PlanUse, RotationStep, Suspension};
    use crate::model::record::Record;
    use crate::store::error::FoldError;
    use crate::store::index::ordered::{Batch, Index, MemoryIndex};
    use crate::store::projection::fold::{fold, fold as fold_record};
    use crate::store::read_model::model::ReadModel;

    #[test]
    fn what_is_known_of_events_addresses_and_actions_is_part_of_the_state() {
        let index = Arc::new(MemoryIndex::new());
        let facts = ReadModel::new(index.clone());
        let at = DateTime::UNIX_EPOCH;
        let merchant: Key = "Merchant/acme".parse().unwrap();
        let (event, name) = ("evt_1".to_owned(), "refund".parse().unwrap());
        let id = ActionRequestId { merchant: merchant.clone(), event: event.clone(), name };
        let address = WebhookAddress::Merchant(merchant.clone());
        let rotated = RotationRecord {
            addresses: vec![address.clone()],
            step: RotationStep::Begun,
            actor: "uid 7".to_owned(),
            at,
        };
        let what = WebhookContent::Event(event);
        let mode = crate::base::id::Mode::Test;
        let body = "blob".to_owned();
        let (fate, message) = (ActionOutcome::Done, "done".to_owned());
        let mut before = facts.digest().unwrap();
        for record in [
            Record::WebhookReceived(Box::new(ReceivedWebhook {
                merchant: merchant.clone(),
                mode,
                what,
                body,
                at,
            })),
            Record::Polled(Box::new(Polled { merchant, to: at, whole: true, at })),
            Record::ActionSettled(Box::new(ActionResult { id, outcome: fate, message, at })),
            Record::Rotated(Box::new(rotated)),
        ] {
            let mut batch = Batch::new();
            fold_record(&*index, &mut batch, &record).unwrap();
            index.apply(batch).unwrap();
            let after = facts.digest().unwrap();
            assert_ne!(after, before, "a snapshot would lose it: {record:?}");
            before = after;
        }
        assert_eq!(facts.rotation(&address).unwrap().generation, 1);
        assert_eq!(facts.rotation(&WebhookAddress::Partner).unwrap(), Rotation::default());
    }

    #[test]
    fn a_plan_is_used_once_and_every_rebuilt_index_knows_it() {
        let used = PlanUse {
            plan: "plan-1".to_owned(),
            token: "t".to_owned(),
            checksum: "c".to_owned(),
            actor: "uid 7".to_owned(),
            at: "2026-11-21T12:00:00Z".parse().unwrap(),
        };
        let record = Record::PlanUsed(Box::new(used.clone()));
        let (index, mut batch) = (Arc::new(MemoryIndex::new()), Batch::new());
        fold(&*index, &mut batch, &record).unwrap();
        let again = fold(&*index, &mut batch, &record);
        assert!(matches!(again, Err(FoldError::Law { law: 5, .. })), "{again:?}");
        let facts = ReadModel::new(index.clone());
        let before = facts.digest().unwrap();
        index.apply(batch).unwrap();
        assert_eq!(facts.use_of_plan("t").unwrap(), Some(used));
        assert_eq!(facts.use_of_plan("other").unwrap(), None);
        assert_ne!(facts.digest().unwrap(), before, "it is part of the state");
    }

    #[test]
    fn what_is_suspended_is_known_until_it_is_resumed() {
        let index = Arc::new(MemoryIndex::new());
        let facts = ReadModel::new(index.clone());
        let nothing = facts.digest().unwrap();
        let key: Key = "Invoice/a".parse().unwrap();
        let at = "2026-11-21T12:00:00Z".parse().unwrap();
        let suspension = |reason: &str| Suspension {
            key: key.clone(),
            reason: reason.to_owned(),
            actor: "uid 7".to_owned(),
            until: None,
            at,
        };
        let write = |record: &Record| {
            let mut batch = Batch::new();
            fold(&*index, &mut batch, record).unwrap();
            index.apply(batch).unwrap();
        };
        for reason in ["first", "second"] {
            write(&Record::Suspended(Box::new(suspension(reason))));
        }
        assert_eq!(facts.suspensions().unwrap(), [suspension("second")]);
        assert_eq!(facts.suspension(&key).unwrap(), Some(suspension("second")));
        assert_ne!(facts.digest().unwrap(), nothing);
        write(&Record::Resumed { key: key.clone(), actor: "uid 7".to_owned(), at });
        assert_eq!(facts.suspensions().unwrap(), []);
        assert_eq!(facts.digest().unwrap(), nothing);
    }
}
