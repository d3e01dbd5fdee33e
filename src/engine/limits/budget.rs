//! The meter: every effect passes it just before its intent is written, whatever its origin.
//!
//! Guarantees: of two concurrent effects never both pass if there is room for one. An effect that
//! passed counts until the fold counts it. A limit that only pending effects fill is waited for,
//! never exceeded.

use std::pin::pin;
use std::sync::Arc;

use chrono::{DateTime, Utc};

use crate::base::hash::Digest;
use crate::base::id::IntentId;
use crate::effects::core::expect::requested_money;
use crate::engine::limits::rules::{LimitDecision, SpendBudget};
use crate::model::change::LimitExceeded;
use crate::model::effect::{Effect, Exposure, SpendRequest};
use crate::store::read_model::model::ReadModelError;

/// Room reserved for an effect, until the fold counts the effect or the effect is given up.
#[derive(Debug)]
pub(crate) struct Reservation {
    guard: Arc<SpendBudget>,
    id: IntentId,
    /// The time of the reservation: the day to which it counts.
    pub(crate) at: DateTime<Utc>,
    pub(crate) stake: Exposure,
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.guard.counting().pending.remove(&self.id);
        self.guard.freed.notify_waiters();
    }
}

impl SpendBudget {
    /// Reserves room for an effect, or returns the limit that leaves none. `rest` is the digest of its
    /// document without the amounts.
    pub(crate) async fn reserve(
        self: &Arc<Self>,
        id: IntentId,
        effect: &Effect,
        rest: Option<Digest>,
    ) -> Result<Result<Reservation, Box<LimitExceeded>>, ReadModelError> {
        let wish = spend_request(effect);
        loop {
            let mut freed = pin!(self.freed.notified());
            freed.as_mut().enable();
            match self.try_reserve(id, &wish, rest)? {
                ReserveResult::Reserved(reserved) => return Ok(Ok(reserved)),
                ReserveResult::Over(over) => return Ok(Err(over)),
                ReserveResult::Wait => freed.await,
            }
        }
    }

    /// Tries once, under the lock of all counts.
    fn try_reserve(
        self: &Arc<Self>,
        id: IntentId,
        wish: &SpendRequest,
        rest: Option<Digest>,
    ) -> Result<ReserveResult, ReadModelError> {
        let (mut counting, at) = (self.counting(), self.now());
        // No approval is bound to this digest.
        let rest = || rest.unwrap_or(Digest::ZERO);
        let mut wish = wish.clone();
        if self.is_limited() && !wish.exposure.is_empty() {
            match self.judge(&counting, at, &wish, &rest, true)? {
                LimitDecision::Within => {}
                LimitDecision::Approved(ids) => wish.exposure.approvals = ids,
                LimitDecision::Over(over) => {
                    let alone = self.judge(&counting, at, &wish, &rest, false)?;
                    let over = matches!(alone, LimitDecision::Over(_)).then_some(over);
                    return Ok(over.map_or(ReserveResult::Wait, ReserveResult::Over));
                }
            }
            wish.exposure.run = Some(Self::run(&counting.tree, at));
            counting.pending.insert(id, wish.clone());
        }
        drop(counting);
        let (guard, stake) = (self.clone(), wish.exposure);
        Ok(ReserveResult::Reserved(Reservation { guard, id, at, stake }))
    }
}

enum ReserveResult {
    Reserved(Reservation),
    Over(Box<LimitExceeded>),
    /// There may be room once pending effects are recorded or given up.
    Wait,
}

/// Builds an effect's request for the meter: its declared amounts, and further ones that it sends.
fn spend_request(effect: &Effect) -> SpendRequest {
    SpendRequest {
        key: effect.key.clone(),
        merchant: effect.merchant.clone(),
        mode: effect.mode,
        generation: effect.applied.generation,
        amountless_digest: None,
        exposure: Exposure::new(&requested_money(effect), effect.counts),
    }
}

#[cfg(test)]
mod tests;
