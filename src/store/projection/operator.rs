//! Folds orders of people: suspensions, uses of saved plans, and rotations of webhook addresses.

use crate::base::id::Key;
use crate::model::operator::approval::PlanUse;
use crate::model::operator::rotation::{Rotation, RotationRecord, WebhookAddress};
use crate::model::operator::suspension::Suspension;
use crate::store::error::FoldError;
use crate::store::index::ordered::{Batch, Index};
use crate::store::read_model::model::{
    PLANS, ReadModel, ReadModelError, plan_key, read, suspension_key, write,
};
use crate::store::read_model::operator::rotation_key;

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::events::event::{Polled, ReceivedWebhook, WebhookContent};
    use crate::model::events::hook_run::{ActionOutcome, ActionRequestId, ActionResult};
    use crate::model::operator::approval::PlanUse;
    use crate::model::operator::rotation::RotationStep;
    use crate::model::operator::suspension::Suspension;
    use crate::model::record::Record;
    use crate::store::error::FoldError;
    use crate::store::index::ordered::{Batch, Index, MemoryIndex};
    use crate::store::projection::fold::{fold, fold as fold_record};
    use crate::store::read_model::model::ReadModel;
    use std::sync::Arc;

    #[test]
    fn what_is_known_of_events_addresses_and_actions_is_part_of_the_state() {
        let index = Arc::new(MemoryIndex::new());
        let facts = ReadModel::new(index.clone());
        let at = chrono::DateTime::UNIX_EPOCH;
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
