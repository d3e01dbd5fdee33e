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
use crate::store::error::Folded;
use crate::store::read_model::model::{Changes, Entries as _, ReadModel, ReadResult, table_reads};
use crate::store::read_model::resources::{PLAN_APPROVALS, TALLIES, USUAL_AMOUNTS};

pub(crate) fn count_intent(changes: &mut Changes<'_>, intent: &Intent) -> Folded {
    count(changes, intent, RunningTotals::add)?;
    each_approval(changes, &intent.exposure, |kept| {
        kept.used.push((intent.key.clone(), intent.id));
    })
}

/// Settles an intent: an effect that did not happen is given back, one that did becomes usual.
pub(crate) fn settle(
    changes: &mut Changes<'_>,
    intent: &Intent,
    progress: &IntentProgress,
) -> Folded {
    match progress {
        IntentProgress::NotSent { .. } | IntentProgress::Refused { .. } => {
            count(changes, intent, RunningTotals::subtract)?;
            each_approval(changes, &intent.exposure, |kept| {
                kept.used.retain(|(_, used)| *used != intent.id);
            })
        }
        IntentProgress::Done { .. } => {
            intent.exposure.moves.iter().try_for_each(|moved| add_usual(changes, intent, moved))
        }
        IntentProgress::Resent
        | IntentProgress::Doubt { .. }
        | IntentProgress::GivenUp { .. }
        | IntentProgress::OnHold { .. } => Ok(()),
    }
}

pub(crate) fn store_approval(changes: &mut Changes<'_>, approval: &PlanApproval) -> Folded {
    let kept = StoredApproval { approval: approval.clone(), used: Vec::new() };
    Ok(PLAN_APPROVALS.put(changes, &approval.id, &kept)?)
}

/// Changes the sums that an intent counts to. An approved intent counts to none.
fn count(
    changes: &mut Changes<'_>,
    intent: &Intent,
    change: impl Fn(&mut RunningTotals, &Exposure),
) -> Folded {
    let stake = &intent.exposure;
    if stake.is_empty() || !stake.approvals.is_empty() {
        return Ok(());
    }
    let day = intent.at.date_naive().to_string();
    let spans = [(LimitPeriod::Day, Some(&day)), (LimitPeriod::Run, stake.run.as_ref())];
    for (span, name) in spans.into_iter().filter_map(|(span, name)| Some((span, name?))) {
        for merchant in [None, Some(&intent.merchant)] {
            let key = counted_key(span, name, intent.mode, merchant);
            let mut tally: RunningTotals = changes.read(&key)?.unwrap_or_default();
            change(&mut tally, stake);
            changes.write(&key, &tally)?;
        }
    }
    Ok(())
}

fn each_approval(
    changes: &mut Changes<'_>,
    stake: &Exposure,
    change: impl Fn(&mut StoredApproval),
) -> Folded {
    for id in &stake.approvals {
        if let Some(mut kept) = PLAN_APPROVALS.get(changes, id)? {
            change(&mut kept);
            PLAN_APPROVALS.put(changes, id, &kept)?;
        }
    }
    Ok(())
}

fn add_usual(changes: &mut Changes<'_>, intent: &Intent, moved: &RecordedMove) -> Folded {
    let amount = moved.amount.minor().saturating_abs();
    changes.write(&own_key(intent.mode, &intent.key, moved), &amount)?;
    let key = recent_key(intent.mode, &intent.merchant, &intent.key, moved);
    let mut recent: Vec<i64> = changes.read(&key)?.unwrap_or_default();
    recent.push(amount);
    recent.drain(..recent.len().saturating_sub(RECENT_MAX));
    Ok(changes.write(&key, &recent)?)
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

/// Removes the usual amounts of a resource that never moves money again.
pub(crate) fn forget(changes: &mut Changes<'_>, key: &Key) -> Folded {
    for mode in [Mode::Test, Mode::Live] {
        let prefix = format!("own/{}/{key}/", mode.as_str());
        changes.remove_under(&[USUAL_AMOUNTS, prefix.as_bytes()].concat())?;
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
    /// Returns the tally of a run or a UTC day, by name; for one merchant or, with `None`, for all.
    pub fn tally(
        &self,
        (span, name): (LimitPeriod, &str),
        mode: Mode,
        merchant: Option<&Key>,
    ) -> ReadResult<RunningTotals> {
        Ok(self.read(&counted_key(span, name, mode, merchant))?.unwrap_or_default())
    }

    pub fn usual_amounts(
        &self,
        mode: Mode,
        merchant: &Key,
        key: &Key,
        moved: &RecordedMove,
    ) -> ReadResult<TypicalAmounts> {
        let recent = self.read(&recent_key(mode, merchant, key, moved))?.unwrap_or_default();
        Ok(TypicalAmounts { own: self.read(&own_key(mode, key, moved))?, recent })
    }
}

table_reads! {
    fn plan_approvals() -> Vec<StoredApproval> = PLAN_APPROVALS.list();
}

#[cfg(test)]
mod tests;
