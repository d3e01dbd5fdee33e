//! The meter: every effect passes it just before its intent is written, whatever its origin.
//!
//! Guarantees: of two concurrent effects never both pass if there is room for one. An effect that
//! passed counts until the fold counts it. A limit that only pending effects fill is waited for,
//! never exceeded.

use std::pin::pin;
use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::limits::{Guard, Judged};
use super::shared::EngineError;
use crate::base::hash::Digest;
use crate::base::id::IntentId;
use crate::effects::declared;
use crate::model::effect::Effect;
use crate::model::limit::Over;
use crate::model::stake::{Stake, Wish};

/// Room reserved for an effect. It is held until the fold counts the effect, or the effect is given
/// up.
#[derive(Debug)]
pub(super) struct Reserved {
    guard: Arc<Guard>,
    id: IntentId,
    at: DateTime<Utc>,
    stake: Stake,
}

impl Reserved {
    /// The time of the reservation: the day to which it counts.
    pub(super) fn at(&self) -> DateTime<Utc> {
        self.at
    }

    /// The exposure that counts.
    pub(super) fn stake(&self) -> Stake {
        self.stake.clone()
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        self.guard.counting().pending.remove(&self.id);
        self.guard.freed.notify_waiters();
    }
}

impl Guard {
    /// Reserves room for an effect, or returns the limit that leaves none.
    pub(super) async fn reserve(
        self: &Arc<Self>,
        id: IntentId,
        effect: &Effect,
        rest: Digest,
    ) -> Result<Result<Reserved, Box<Over>>, EngineError> {
        let wish = wish(effect);
        loop {
            let mut freed = pin!(self.freed.notified());
            freed.as_mut().enable();
            match self.try_reserve(id, &wish, rest)? {
                Tried::Reserved(reserved) => return Ok(Ok(reserved)),
                Tried::Over(over) => return Ok(Err(over)),
                Tried::Wait => freed.await,
            }
        }
    }

    /// Tries once, under the lock of all counts.
    fn try_reserve(
        self: &Arc<Self>,
        id: IntentId,
        wish: &Wish,
        rest: Digest,
    ) -> Result<Tried, EngineError> {
        let (mut counting, at, rest) = (self.counting(), self.now(), || rest);
        let mut wish = wish.clone();
        if self.is_limited() && !wish.stake.is_empty() {
            match self.judge(&counting, at, &wish, &rest, true)? {
                Judged::Within => {}
                Judged::Approved(ids) => wish.stake.approvals = ids,
                Judged::Over(over) => {
                    let alone = self.judge(&counting, at, &wish, &rest, false)?;
                    let over = matches!(alone, Judged::Over(_)).then_some(over);
                    return Ok(over.map_or(Tried::Wait, Tried::Over));
                }
            }
            wish.stake.run = Some(Self::run(&counting.tree, at));
            counting.pending.insert(id, wish.clone());
        }
        drop(counting);
        Ok(Tried::Reserved(Reserved { guard: self.clone(), id, at, stake: wish.stake }))
    }
}

/// The result of a try.
enum Tried {
    Reserved(Reserved),
    /// There is no room.
    Over(Box<Over>),
    /// There may be room once pending effects are recorded or given up.
    Wait,
}

/// Builds the request of an effect for the meter: its declared amounts, and those that its request
/// contains beyond them.
fn wish(effect: &Effect) -> Wish {
    let stake = Stake::new(&declared(effect), effect.counts);
    Wish {
        key: effect.key.clone(),
        merchant: effect.merchant.clone(),
        mode: effect.mode,
        generation: effect.applied.generation,
        rest: None,
        stake,
    }
}

#[cfg(test)]
mod tests;
