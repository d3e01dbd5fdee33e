//! Folds rotations of webhook addresses.

use crate::model::operator::rotation::{Rotation, RotationRecord, WebhookAddress};
use crate::store::index::ordered::{Batch, Index};
use crate::store::read_model::model::{ReadModelError, read, write};
use crate::store::read_model::rotation::rotation_key;

/// Rotates the addresses that the record names.
pub(crate) fn fold(
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::events::event::{Polled, ReceivedWebhook, WebhookContent};
    use crate::model::events::hook_run::{ActionOutcome, ActionRequestId, ActionResult};
    use crate::model::operator::rotation::RotationStep;
    use crate::model::record::Record;
    use crate::store::index::ordered::MemoryIndex;
    use crate::store::projection::fold::fold as fold_record;
    use crate::store::read_model::model::ReadModel;

    #[test]
    fn what_is_known_of_events_addresses_and_actions_is_part_of_the_state() {
        let index = Arc::new(MemoryIndex::new());
        let facts = ReadModel::new(index.clone());
        let at = chrono::DateTime::UNIX_EPOCH;
        let merchant: crate::base::id::Key = "Merchant/acme".parse().unwrap();
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
}
