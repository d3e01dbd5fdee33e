//! Counts the exposure of intents: by day and by run, for each merchant and for all. Also keeps the
//! usual amounts and the used approvals.
//!
//! An intent counts from the moment it is written, so that no second one passes beside it. An
//! effect that is proved not to have happened is given back; an intent in doubt is not. A resend of
//! the same intent counts once.

use crate::base::id::{Key, Mode};
use crate::model::effect::{Exposure, RecordedMove, RunningTotals};
use crate::model::intent::{Intent, IntentProgress};
use crate::model::operator::{PlanApproval, StoredApproval};
use crate::policy::limit_check::LimitPeriod;
use crate::policy::limits::{RECENT_MAX, TypicalAmounts};
use crate::store::index::ordered::{Batch, Index};
use crate::store::read_model::model::{
    PLAN_APPROVALS, ReadModel, ReadModelError, TALLIES, USUAL_AMOUNTS, read, write,
};

/// Counts a new intent.
pub(crate) fn count_intent(
    index: &dyn Index,
    batch: &mut Batch,
    intent: &Intent,
) -> Result<(), ReadModelError> {
    count(index, batch, intent, RunningTotals::add)?;
    each_approval(index, batch, &intent.exposure, |kept| {
        kept.used.push((intent.key.clone(), intent.id));
    })
}

/// Settles an intent: an effect that did not happen is given back, one that did becomes usual.
pub(crate) fn settle(
    index: &dyn Index,
    batch: &mut Batch,
    intent: &Intent,
    progress: &IntentProgress,
) -> Result<(), ReadModelError> {
    match progress {
        IntentProgress::NotSent { .. } | IntentProgress::Refused { .. } => {
            count(index, batch, intent, RunningTotals::subtract)?;
            each_approval(index, batch, &intent.exposure, |kept| {
                kept.used.retain(|(_, used)| *used != intent.id);
            })
        }
        IntentProgress::Done { .. } => intent
            .exposure
            .moves
            .iter()
            .try_for_each(|moved| add_usual(index, batch, intent, moved)),
        IntentProgress::Resent
        | IntentProgress::Doubt { .. }
        | IntentProgress::GivenUp { .. }
        | IntentProgress::OnHold { .. } => Ok(()),
    }
}

/// Stores a person's approval of a plan.
pub(crate) fn store_approval(
    batch: &mut Batch,
    approval: &PlanApproval,
) -> Result<(), ReadModelError> {
    let kept = StoredApproval { approval: approval.clone(), used: Vec::new() };
    write(batch, &approval_key(&approval.id), &kept)
}

/// Changes the sums that an intent counts to. An approved intent counts to none.
fn count(
    index: &dyn Index,
    batch: &mut Batch,
    intent: &Intent,
    change: impl Fn(&mut RunningTotals, &Exposure),
) -> Result<(), ReadModelError> {
    let stake = &intent.exposure;
    if stake.is_empty() || !stake.approvals.is_empty() {
        return Ok(());
    }
    let day = day_of(intent);
    let spans = [(LimitPeriod::Day, Some(&day)), (LimitPeriod::Run, stake.run.as_ref())];
    for (span, name) in spans.into_iter().filter_map(|(span, name)| Some((span, name?))) {
        for merchant in [None, Some(&intent.merchant)] {
            let key = counted_key(span, name, intent.mode, merchant);
            let mut tally: RunningTotals = read(index, batch, &key)?.unwrap_or_default();
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
    stake: &Exposure,
    change: impl Fn(&mut StoredApproval),
) -> Result<(), ReadModelError> {
    for id in &stake.approvals {
        let key = approval_key(id);
        if let Some(mut kept) = read::<StoredApproval>(index, batch, &key)? {
            change(&mut kept);
            write(batch, &key, &kept)?;
        }
    }
    Ok(())
}

/// Adds an amount that was moved to the usual amounts.
fn add_usual(
    index: &dyn Index,
    batch: &mut Batch,
    intent: &Intent,
    moved: &RecordedMove,
) -> Result<(), ReadModelError> {
    let amount = moved.amount.minor().saturating_abs();
    let own = own_key(intent.mode, &intent.key, moved);
    write(batch, &own, &amount)?;
    let key = recent_key(intent.mode, &intent.merchant, &intent.key, moved);
    let mut recent: Vec<i64> = read(index, batch, &key)?.unwrap_or_default();
    recent.push(amount);
    let spare = recent.len().saturating_sub(RECENT_MAX);
    recent.drain(..spare);
    write(batch, &key, &recent)
}

/// Key of the entry of a sum. The merchant's name is empty for the sum of all merchants.
fn counted_key(span: LimitPeriod, name: &str, mode: Mode, merchant: Option<&Key>) -> Vec<u8> {
    let span = match span {
        LimitPeriod::Run => "run",
        LimitPeriod::Day => "day",
    };
    let merchant = merchant.map(Key::to_string).unwrap_or_default();
    [TALLIES, format!("{span}/{name}/{}/{merchant}", mode.as_str()).as_bytes()].concat()
}

fn approval_key(id: &str) -> Vec<u8> {
    [PLAN_APPROVALS, id.as_bytes()].concat()
}

/// Removes the usual amounts of a resource that never moves money again.
pub(crate) fn forget(
    index: &dyn Index,
    batch: &mut Batch,
    key: &Key,
) -> Result<(), ReadModelError> {
    for mode in [Mode::Test, Mode::Live] {
        let prefix = format!("own/{}/{key}/", mode.as_str());
        for (entry, _) in batch.scan(index, &[USUAL_AMOUNTS, prefix.as_bytes()].concat())? {
            batch.remove(entry);
        }
    }
    Ok(())
}

/// Key of the entry with the last amount that a resource moved.
fn own_key(mode: Mode, key: &Key, moved: &RecordedMove) -> Vec<u8> {
    let what = format!("own/{}/{key}/{}/{}", mode.as_str(), moved.amount.currency(), moved.meaning);
    [USUAL_AMOUNTS, what.as_bytes()].concat()
}

/// Key of the entry with the recent amounts of a merchant's resources of one kind.
fn recent_key(mode: Mode, merchant: &Key, key: &Key, moved: &RecordedMove) -> Vec<u8> {
    let (mode, kind, currency) = (mode.as_str(), &key.kind, moved.amount.currency());
    let what = format!("recent/{mode}/{merchant}/{kind}/{currency}/{}", moved.meaning);
    [USUAL_AMOUNTS, what.as_bytes()].concat()
}

impl ReadModel {
    /// Returns the tally of a span: a run or a UTC day, by name; for one merchant or, with `None`,
    /// for all.
    pub fn tally(
        &self,
        (span, name): (LimitPeriod, &str),
        mode: Mode,
        merchant: Option<&Key>,
    ) -> Result<RunningTotals, ReadModelError> {
        Ok(self.entry(&counted_key(span, name, mode, merchant))?.unwrap_or_default())
    }

    /// Returns the usual amounts for a resource.
    pub fn usual_amounts(
        &self,
        mode: Mode,
        merchant: &Key,
        key: &Key,
        moved: &RecordedMove,
    ) -> Result<TypicalAmounts, ReadModelError> {
        let recent = self.entry(&recent_key(mode, merchant, key, moved))?.unwrap_or_default();
        Ok(TypicalAmounts { own: self.entry(&own_key(mode, key, moved))?, recent })
    }

    /// Returns every approval of a plan that was ever given.
    pub fn plan_approvals(&self) -> Result<Vec<StoredApproval>, ReadModelError> {
        self.list(PLAN_APPROVALS)
    }
}

#[cfg(test)]
mod tests;
