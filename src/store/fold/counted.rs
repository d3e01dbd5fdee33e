//! Counts the exposure of intents: by day and by run, for each merchant and for all. Also keeps the
//! usual amounts and the used approvals.
//!
//! An intent counts from the moment it is written, so that no second one passes beside it. An
//! effect that is proved not to have happened is given back; an intent in doubt is not. A resend of
//! the same intent counts once.

use crate::base::id::{Key, Mode};
use crate::model::intent::{Intent, Progress};
use crate::model::plan_approval::{KeptApproval, PlanApproval};
use crate::model::stake::{Moved, Stake, Tally};
use crate::policy::meter::Span;
use crate::policy::usual::{KEPT_MAX, Usual};
use crate::store::facts::{COUNTED, FactError, Facts, PLAN_APPROVALS, USUAL, read, write};
use crate::store::index::{Batch, Index};

/// Counts a new intent.
pub(super) fn promised(
    index: &dyn Index,
    batch: &mut Batch,
    intent: &Intent,
) -> Result<(), FactError> {
    count(index, batch, intent, Tally::add)?;
    each_approval(index, batch, &intent.stake, |kept| {
        kept.used.push((intent.key.clone(), intent.id));
    })
}

/// Settles an intent: an effect that did not happen is given back, one that did becomes usual.
pub(super) fn settled(
    index: &dyn Index,
    batch: &mut Batch,
    intent: &Intent,
    progress: &Progress,
) -> Result<(), FactError> {
    match progress {
        Progress::NotSent { .. } | Progress::Refused { .. } => {
            count(index, batch, intent, Tally::give_back)?;
            each_approval(index, batch, &intent.stake, |kept| {
                kept.used.retain(|(_, used)| *used != intent.id);
            })
        }
        Progress::Done { .. } => {
            intent.stake.moves.iter().try_for_each(|moved| usual(index, batch, intent, moved))
        }
        Progress::Again
        | Progress::Doubt { .. }
        | Progress::GivenUp { .. }
        | Progress::Held { .. } => Ok(()),
    }
}

/// Stores a person's approval of a plan.
pub(super) fn approved(batch: &mut Batch, approval: &PlanApproval) -> Result<(), FactError> {
    let kept = KeptApproval { approval: approval.clone(), used: Vec::new() };
    write(batch, &approval_key(&approval.id), &kept)
}

/// Changes the sums that an intent counts to. An approved intent counts to none.
fn count(
    index: &dyn Index,
    batch: &mut Batch,
    intent: &Intent,
    change: impl Fn(&mut Tally, &Stake),
) -> Result<(), FactError> {
    let stake = &intent.stake;
    if stake.is_empty() || !stake.approvals.is_empty() {
        return Ok(());
    }
    let day = day_of(intent);
    let spans = [(Span::Day, Some(&day)), (Span::Run, stake.run.as_ref())];
    for (span, name) in spans.into_iter().filter_map(|(span, name)| Some((span, name?))) {
        for merchant in [None, Some(&intent.merchant)] {
            let key = counted_key(span, name, intent.mode, merchant);
            let mut tally: Tally = read(index, batch, &key)?.unwrap_or_default();
            change(&mut tally, stake);
            write(batch, &key, &tally)?;
        }
    }
    Ok(())
}

/// Returns the UTC day of an intent.
fn day_of(intent: &Intent) -> String {
    intent.at.date_naive().to_string()
}

/// Changes each approval that an intent used.
fn each_approval(
    index: &dyn Index,
    batch: &mut Batch,
    stake: &Stake,
    change: impl Fn(&mut KeptApproval),
) -> Result<(), FactError> {
    for id in &stake.approvals {
        let key = approval_key(id);
        if let Some(mut kept) = read::<KeptApproval>(index, batch, &key)? {
            change(&mut kept);
            write(batch, &key, &kept)?;
        }
    }
    Ok(())
}

/// Adds an amount that was moved to the usual amounts.
fn usual(
    index: &dyn Index,
    batch: &mut Batch,
    intent: &Intent,
    moved: &Moved,
) -> Result<(), FactError> {
    let amount = moved.amount.minor().saturating_abs();
    let own = own_key(intent.mode, &intent.key, moved);
    write(batch, &own, &amount)?;
    let key = recent_key(intent.mode, &intent.merchant, &intent.key, moved);
    let mut recent: Vec<i64> = read(index, batch, &key)?.unwrap_or_default();
    recent.push(amount);
    let spare = recent.len().saturating_sub(KEPT_MAX);
    recent.drain(..spare);
    write(batch, &key, &recent)
}

/// Key of the entry of a sum. The merchant's name is empty for the sum of all merchants.
fn counted_key(span: Span, name: &str, mode: Mode, merchant: Option<&Key>) -> Vec<u8> {
    let span = match span {
        Span::Run => "run",
        Span::Day => "day",
    };
    let merchant = merchant.map(Key::to_string).unwrap_or_default();
    [COUNTED, format!("{span}/{name}/{}/{merchant}", mode.as_str()).as_bytes()].concat()
}

fn approval_key(id: &str) -> Vec<u8> {
    [PLAN_APPROVALS, id.as_bytes()].concat()
}

/// Removes the usual amounts of a resource that never moves money again.
pub(super) fn forget(index: &dyn Index, batch: &mut Batch, key: &Key) -> Result<(), FactError> {
    for mode in [Mode::Test, Mode::Live] {
        let prefix = format!("own/{}/{key}/", mode.as_str());
        for (entry, _) in batch.scan(index, &[USUAL, prefix.as_bytes()].concat())? {
            batch.remove(entry);
        }
    }
    Ok(())
}

/// Key of the entry with the last amount that a resource moved.
fn own_key(mode: Mode, key: &Key, moved: &Moved) -> Vec<u8> {
    let what = format!("own/{}/{key}/{}/{}", mode.as_str(), moved.amount.currency(), moved.meaning);
    [USUAL, what.as_bytes()].concat()
}

/// Key of the entry with the recent amounts of a merchant's resources of one kind.
fn recent_key(mode: Mode, merchant: &Key, key: &Key, moved: &Moved) -> Vec<u8> {
    let (mode, kind, currency) = (mode.as_str(), &key.kind, moved.amount.currency());
    let what = format!("recent/{mode}/{merchant}/{kind}/{currency}/{}", moved.meaning);
    [USUAL, what.as_bytes()].concat()
}

impl Facts {
    /// Returns the tally of a span: a run or a UTC day, by name; for one merchant or, with `None`,
    /// for all.
    pub fn counted(
        &self,
        (span, name): (Span, &str),
        mode: Mode,
        merchant: Option<&Key>,
    ) -> Result<Tally, FactError> {
        Ok(self.entry(&counted_key(span, name, mode, merchant))?.unwrap_or_default())
    }

    /// Returns the usual amounts for a resource.
    pub fn usual(
        &self,
        mode: Mode,
        merchant: &Key,
        key: &Key,
        moved: &Moved,
    ) -> Result<Usual, FactError> {
        let recent = self.entry(&recent_key(mode, merchant, key, moved))?.unwrap_or_default();
        Ok(Usual { own: self.entry(&own_key(mode, key, moved))?, recent })
    }

    /// Returns every approval of a plan that was ever given.
    pub fn plan_approvals(&self) -> Result<Vec<KeptApproval>, FactError> {
        self.list(PLAN_APPROVALS)
    }
}

#[cfg(test)]
mod tests;
