//! Folds and reads orders of people and findings about the whole state: uses of saved plans, rotations
//! of webhook addresses, unknown and disowned objects, confirmed absences, and epochs. A restore opens
//! a new epoch and discards earlier excuses, and a person ends the doubt.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};

use crate::base::id::{IntentId, Key};
use crate::model::intent::{Intent, IntentProgress, IntentState};
use crate::model::operator::{PlanUse, Rotation, RotationRecord, WebhookAddress};
use crate::model::state::lifecycle::{Epoch, Release, Restored};
use crate::model::state::observed::Observed;
use crate::store::error::{Folded, law};
use crate::store::projection::events;
use crate::store::projection::hooks::mark_done;
use crate::store::read_model::hooks::DOUBTED_ACTIONS;
use crate::store::read_model::model::{
    Changes, Entries as _, ReadModel, ReadResult, Table, decode, table_reads,
};
use crate::store::read_model::resources::{
    BINDING, CONFIRMED_ABSENT, DISOWNED, EMPTY_REMOTE, EPOCH, NEXT_INTENT, OBSERVED, PLANS,
    RELEASED, UNKNOWN_OBJECTS,
};

pub(crate) static ROTATIONS: Table<String, (WebhookAddress, Rotation)> = Table::new(b"v/t/");

pub(crate) fn rotate_addresses(changes: &mut Changes<'_>, rotated: &RotationRecord) -> Folded {
    for address in &rotated.addresses {
        let name = rotation_name(address);
        let known = ROTATIONS.get(changes, &name)?.map(|(_, known)| known).unwrap_or_default();
        ROTATIONS.put(changes, &name, &(address.clone(), known.after(rotated.step, rotated.at)))?;
    }
    Ok(())
}

/// Records the use of a saved plan. Law 5: a plan's token is used once.
pub(crate) fn use_plan(changes: &mut Changes<'_>, used: &PlanUse) -> Folded {
    if let Some(before) = PLANS.get(changes, &used.token)? {
        return law!(5, "{} is used again, first at {}", used.plan, before.at);
    }
    Ok(PLANS.put(changes, &used.token, used)?)
}

/// The fact that marks a merchant whose readable objects were surveyed.
const SURVEYED: &str = "surveyed";

/// Opens an epoch for a restored backup. An operator's earlier declaration about the service no
/// longer counts, and every merchant is surveyed again before its first effect.
pub(crate) fn begin_epoch(changes: &mut Changes<'_>, restored: &Restored) -> Folded {
    if let Some(mut bound) = BINDING.get(changes, ())? {
        if restored.epoch <= bound.epoch {
            return law!(5, "epoch {} after epoch {}", restored.epoch, bound.epoch);
        }
        bound.epoch = restored.epoch;
        BINDING.put(changes, (), &bound)?;
    }
    let first_intent = NEXT_INTENT.get(changes, ())?.unwrap_or_else(|| IntentId::new(1));
    let began = restored.clone();
    let epoch = Epoch { began, first_intent, holds_unfindable: true, looks_up_first: true };
    EPOCH.put(changes, (), &epoch)?;
    EMPTY_REMOTE.remove(changes, ());
    events::doubt_pending(changes)?;
    forget_surveys(changes)?;
    // Releases and searches counted for the epoch before.
    changes.remove_under(RELEASED.prefix())?;
    Ok(changes.remove_under(CONFIRMED_ABSENT)?)
}

fn forget_surveys(changes: &mut Changes<'_>) -> Folded {
    for (key, value) in changes.scan(OBSERVED.prefix())? {
        let mut known: Observed = decode(&key, &value)?;
        let facts = known.facts.as_object_mut();
        if facts.and_then(|facts| facts.remove(SURVEYED)).is_some() {
            changes.write(&key, &known)?;
        }
    }
    Ok(())
}

/// Applies a person's word that nothing was sent between the backup and the restore, or that a lost
/// state did not create these resources.
pub(crate) fn apply_release(changes: &mut Changes<'_>, release: &Release) -> Folded {
    match EPOCH.get(changes, ())? {
        Some(_) if release.done => return mark_done(changes, release),
        Some(epoch) if release.keys.is_empty() => {
            let certain = Epoch { holds_unfindable: false, looks_up_first: false, ..epoch };
            return Ok(EPOCH.put(changes, (), &certain)?);
        }
        None if release.done => return Ok(()),
        Some(_) | None => {}
    }
    for key in &release.keys {
        RELEASED.put(changes, key, &release.at)?;
    }
    Ok(())
}

/// Applies the declaration that nothing at the service is ours: nothing is on hold for the epoch
/// any more. An effect that can be looked up is still looked up.
pub(crate) fn end_holds(changes: &mut Changes<'_>) -> Folded {
    let Some(epoch) = EPOCH.get(changes, ())? else { return Ok(()) };
    Ok(EPOCH.put(changes, (), &Epoch { holds_unfindable: false, ..epoch })?)
}

/// Records that an intent in doubt was not sent: it is confirmed absent, or a person says so. In
/// this epoch the effect need not be looked up again.
pub(crate) fn note_confirmed_absent(
    changes: &mut Changes<'_>,
    (intent, before): (&Intent, &IntentState),
    (progress, at): (&IntentProgress, DateTime<Utc>),
) -> Folded {
    let proved = matches!(before, IntentState::InDoubt { .. } | IntentState::OnHold { .. });
    if !proved || !matches!(progress, IntentProgress::NotSent { .. }) {
        return Ok(());
    }
    let epoch = EPOCH.get(changes, ())?;
    let doubted = DOUBTED_ACTIONS.has(changes, &intent.key)?;
    if doubted || epoch.is_some_and(|epoch| epoch.looks_up_first) {
        let key = absence_key(&intent.effect, intent.source_id.as_str());
        changes.write(&key, &(&intent.key, at))?;
    }
    Ok(())
}

table_reads! {
    /// Returns the epoch; `None` before the first restore.
    fn epoch() -> Option<Epoch> = EPOCH.get(());
    /// Returns true if a person said that this resource was not created between backup and restore,
    /// or by a lost state.
    fn is_released(key: &Key) -> bool = RELEASED.has(key);
    /// Returns the generations of every address that was ever rotated.
    fn rotations() -> Vec<(WebhookAddress, Rotation)> = ROTATIONS.list();
    fn used_plans() -> Vec<PlanUse> = PLANS.list();
}

impl ReadModel {
    /// Returns the time at which this state or its epoch began: an earlier state did nothing since.
    /// States of older versions have no such time.
    pub fn began_at(&self) -> ReadResult<Option<DateTime<Utc>>> {
        Ok(match self.epoch()? {
            Some(epoch) => Some(epoch.began.at),
            None => self.state_owner()?.and_then(|binding| binding.began),
        })
    }

    /// Returns true if this state began empty, and no person declared the service empty of ours.
    pub fn began_empty(&self) -> ReadResult<bool> {
        Ok(self.epoch()?.is_none() && !self.is_empty_remote()?)
    }

    /// Returns true if an effect was searched in this epoch and is confirmed absent.
    pub fn is_confirmed_absent(&self, effect: &str, source_id: &str) -> ReadResult<bool> {
        Ok(self.value(&absence_key(effect, source_id))?.is_some())
    }

    pub fn disowned_ids(&self) -> ReadResult<BTreeSet<String>> {
        Ok(DISOWNED.keys(self)?.into_iter().collect())
    }

    /// Returns every object with a mark of ours that blocks a resource, with that resource.
    pub fn unknown_objects(&self) -> ReadResult<BTreeMap<String, Key>> {
        Ok(UNKNOWN_OBJECTS.entries(self)?.into_iter().collect())
    }

    pub fn rotation(&self, address: &WebhookAddress) -> ReadResult<Rotation> {
        let found = ROTATIONS.get(self, &rotation_name(address))?;
        Ok(found.map(|(_, rotation)| rotation).unwrap_or_default())
    }
}

pub(crate) fn absence_key(effect: &str, source_id: &str) -> Vec<u8> {
    [CONFIRMED_ABSENT, effect.as_bytes(), b"/", source_id.as_bytes()].concat()
}

pub(crate) fn rotation_name(address: &WebhookAddress) -> String {
    match address {
        WebhookAddress::Partner => "partner".to_owned(),
        WebhookAddress::Merchant(key) => key.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::events::event::{Polled, ReceivedWebhook, WebhookContent};
    use crate::model::events::hook_run::{ActionOutcome, ActionRequestId, ActionResult};
    use crate::model::operator::{RotationStep, Suspension};
    use crate::model::record::Record;
    use crate::store::error::FoldError;
    use crate::store::index::ordered::{Batch, Index, MemoryIndex};
    use crate::store::tests::support::{fold, fold as fold_record};

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

    #[test]
    fn each_resource_and_each_obligation_has_a_place_of_its_own() {
        let key = |text: &str| RELEASED.key(&text.parse().unwrap());
        let looked = |effect: &str, source: &str| absence_key(effect, source);
        let all = [
            key("Contact/a"),
            key("Contact/b"),
            looked("contact.create", "acme:1"),
            looked("contact.create", "acme:2"),
            looked("invoice.create", "acme:1"),
        ];
        let different: BTreeSet<_> = all.iter().collect();
        assert_eq!(different.len(), all.len());
        assert!(all[0].starts_with(RELEASED.prefix()) && all[2].starts_with(CONFIRMED_ABSENT));
    }
}
