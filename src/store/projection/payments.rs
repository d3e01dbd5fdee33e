//! Folds payments: an event about an attempt to collect money is kept with the resource that
//! collects it.

use crate::model::events::event::VerifiedEvent;
use crate::model::events::remote_object::Freshness;
use crate::model::operator::action::is_action;
use crate::model::state::observed::Observed;
use crate::model::state::payment::Payments;
use crate::store::index::ordered::{Batch, Index};
use crate::store::read_model::model::{ReadModelError, observed_key, read, write};

/// Applies an event to the payments of its resources, if the event shows a newer version.
pub(crate) fn apply_event(
    index: &dyn Index,
    batch: &mut Batch,
    told: &VerifiedEvent,
) -> Result<(), ReadModelError> {
    let Some(object) = told.object.as_ref().filter(|_| told.freshness == Freshness::Newer) else {
        return Ok(());
    };
    for key in told.resources.iter().filter(|key| !is_action(key)) {
        let entry = observed_key(key);
        let Some(mut known) = read::<Observed>(index, batch, &entry)? else { continue };
        let before = known.payments.as_deref();
        let Some(now) = Payments::after_event(before, object, told.previous.as_ref(), told.at)
        else {
            continue;
        };
        known.payments = Some(Box::new(now));
        write(batch, &entry, &known)?;
    }
    Ok(())
}
