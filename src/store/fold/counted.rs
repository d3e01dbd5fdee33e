//! What intents put at stake, counted: by day and by run, of each merchant and of all; what is usual; and
//! which approvals were used.
//!
//! A promise counts from the moment it is written down, so that no second one passes beside it. What is
//! proved not to have happened is given back; what is in doubt is not. The same promise, sent again, counts once.

use crate::base::id::{Key, Mode};
use crate::model::intent::{Intent, Progress};
use crate::model::plan_approval::{KeptApproval, PlanApproval};
use crate::model::stake::{Moved, Stake, Tally};
use crate::policy::meter::Span;
use crate::policy::usual::{KEPT_MAX, Usual};
use crate::store::facts::{COUNTED, FactError, Facts, PLAN_APPROVALS, USUAL, read, write};
use crate::store::index::{Batch, Index};

/// A new promise.
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

/// The end of a promise: what did not happen is given back, what did becomes usual.
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

/// A person approved a plan.
pub(super) fn approved(batch: &mut Batch, approval: &PlanApproval) -> Result<(), FactError> {
    let kept = KeptApproval { approval: approval.clone(), used: Vec::new() };
    write(batch, &approval_key(&approval.id), &kept)
}

/// Changes the sums that a promise counts to. What was approved counts to none.
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

/// The UTC day of a promise.
fn day_of(intent: &Intent) -> String {
    intent.at.date_naive().to_string()
}

/// Changes each approval that a promise used.
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

/// An amount that was moved is usual from now on.
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

/// The entry of a sum. Of all merchants together it has no merchant's name.
fn counted_key(span: Span, name: &str, mode: Mode, merchant: Option<&Key>) -> Vec<u8> {
    let span = match span {
        Span::Run => "run",
        Span::Day => "day",
    };
    let merchant = merchant.map(Key::to_string).unwrap_or_default();
    [COUNTED, format!("{span}/{name}/{}/{merchant}", mode.as_str()).as_bytes()].concat()
}

/// The entry of an approval of a plan.
fn approval_key(id: &str) -> Vec<u8> {
    [PLAN_APPROVALS, id.as_bytes()].concat()
}

/// Forgets what was usual for this one, which never moves money again.
pub(super) fn forget(index: &dyn Index, batch: &mut Batch, key: &Key) -> Result<(), FactError> {
    for mode in [Mode::Test, Mode::Live] {
        let prefix = format!("own/{}/{key}/", mode.as_str());
        for (entry, _) in batch.scan(index, &[USUAL, prefix.as_bytes()].concat())? {
            batch.remove(entry);
        }
    }
    Ok(())
}

/// The entry of what a resource moved last.
fn own_key(mode: Mode, key: &Key, moved: &Moved) -> Vec<u8> {
    let what = format!("own/{}/{key}/{}/{}", mode.as_str(), moved.amount.currency(), moved.meaning);
    [USUAL, what.as_bytes()].concat()
}

/// The entry of what resources of a kind moved lately.
fn recent_key(mode: Mode, merchant: &Key, key: &Key, moved: &Moved) -> Vec<u8> {
    let (mode, kind, currency) = (mode.as_str(), &key.kind, moved.amount.currency());
    let what = format!("recent/{mode}/{merchant}/{kind}/{currency}/{}", moved.meaning);
    [USUAL, what.as_bytes()].concat()
}

impl Facts {
    /// What was counted in a span: a run or a UTC day, by its name; of one merchant or of all.
    pub fn counted(
        &self,
        (span, name): (Span, &str),
        mode: Mode,
        merchant: Option<&Key>,
    ) -> Result<Tally, FactError> {
        Ok(self.entry(&counted_key(span, name, mode, merchant))?.unwrap_or_default())
    }

    /// What is usual for an amount of this resource.
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

    /// Every approval of a plan that was ever given.
    pub fn plan_approvals(&self) -> Result<Vec<KeptApproval>, FactError> {
        self.list(PLAN_APPROVALS)
    }
}

#[cfg(test)]
mod tests;
