//! Neutralises a recurring charge whose document requested deletion and was removed.
//!
//! The charge is read, then cancelled. If the service has no such path, its last day is set to that
//! of its pending occurrence. Only then that occurrence is ignored, so that at no moment anything
//! is left to fire or opens anew. The charge is over when a final reading shows nothing pending. A
//! payment that is due today, or in progress, may be collected at any moment: then nothing is
//! assumed, and the charge is read again.

use chrono::{NaiveDate, TimeDelta};
use serde_json::{Value, json};

use crate::base::id::{Key, RemoteId};
use crate::base::money::Money;
use crate::effects::core::context::EffectContext;
use crate::effects::recurring::end::{cancel_recurring, end_recurring, has_no_path};
use crate::effects::recurring::occurrences::{RECURRING_STATE, ignore_occurrence};
use crate::kinds::planning::diff::amount;
use crate::kinds::planning::step::{
    StepCx, StepDecision, deletion_of, orphan, removal_context, step_digest, text, unsuitable,
    wait, with_step_digest,
};
use crate::kinds::recurring_charge::request::today_of;
use crate::model::change::{PlannedAction, RemovalStatus};
use crate::model::effect::{Effect, MoneyMove, StepWork};
use crate::model::manifest::Manifest;
use crate::model::plan::Reason;
use crate::model::state::observed::{AppliedSpec, Observed};

const NO_LONGER: &str = "no_longer_collected_per_occurrence";
const PENDING: &str = "pending_not_collected";
/// Names of the steps, for the digests of their refusals.
const CANCEL: &str = "recurring.cancel";
const END: &str = "recurring.end";
/// Seconds for which a reading is used.
const FRESH_S: i64 = 15 * 60;

pub(super) fn plan_removal(cx: &StepCx<'_>, key: &Key, have: &Observed) -> StepDecision {
    let Some(applied) = deletion_of(have) else { return orphan() };
    let Some(charge) = &have.remote_id else {
        let why = "the id of the charge at the service is unknown, so it cannot be ended";
        return StepDecision::blocked(unsuitable(why));
    };
    let new = match removal_context(cx, key, have, applied) {
        Ok(new) => new,
        Err(reason) => return wait(reason),
    };
    let account = have.text("account_id").map(str::to_owned);
    let new = EffectContext { account, ..new };
    let ending = ChargeEnding { cx, have, applied, charge };
    let money = ending.money(&new);
    let draft = match ending.next_work(new) {
        Ok(work) => {
            let reason = Reason::Removal(Box::new(RemovalStatus::Neutralised(ending.describe())));
            StepDecision::idle(PlannedAction::Delete, reason).with_work(work).ready()
        }
        Err(reason) => StepDecision::blocked(reason),
    };
    StepDecision { money, ..draft }
}

/// Returns the reason why a returned document cannot continue a charge that was ended meanwhile.
pub(super) fn ended_reason(have: Option<&Observed>, manifest: &Manifest) -> Option<Reason> {
    let have = have?;
    let made = have.applied.as_ref().map_or(0, |applied| applied.generation);
    if made < manifest.annotations.generation {
        return None;
    }
    let how = have.text("ended").map(str::to_owned).or_else(|| half_ended(have, manifest))?;
    Some(Reason::Removal(Box::new(RemovalStatus::Ended(how))))
}

/// Detects a charge whose last day was set, which the service cannot remove, and whose document
/// came back before its last payment was ignored.
fn half_ended(have: &Observed, manifest: &Manifest) -> Option<String> {
    let end = have.text("end")?;
    let last = |spec: &Value| spec.pointer("/schedule/end").and_then(Value::as_str) == Some(end);
    let set = have.applied.as_ref().is_some_and(|applied| last(&applied.spec));
    (set && !last(&manifest.spec)).then(|| {
        format!("the last day was set to {end}, and payments due until then are still collected")
    })
}

struct ChargeEnding<'a> {
    cx: &'a StepCx<'a>,
    have: &'a Observed,
    applied: &'a AppliedSpec,
    charge: &'a RemoteId,
}

impl ChargeEnding<'_> {
    fn next_work(&self, new: EffectContext) -> Result<StepWork, Reason> {
        let (looked, subject) = (self.have.fact("looked"), self.reading_subject());
        if looked.get("about") != Some(&subject) {
            return Ok(StepWork::Read(new.reading(RECURRING_STATE, subject)));
        }
        let pending = self.pending();
        self.check_not_due(&pending, &new)?;
        let over = matches!(text(looked, "status"), "COMPLETED" | "DELETED");
        let first = pending.first();
        Ok(StepWork::Effect(match first {
            _ if !over && !self.end_was_set() && !self.cannot_cancel() => {
                cancel_recurring(with_step_digest(new, CANCEL), self.charge)
            }
            None => {
                let why = "the service shows no pending occurrence of the charge, so its last day is unknown: end \
                           the charge at the service";
                return Err(unsuitable(why));
            }
            Some(one) if over || self.end_was_set() => self.ignore(new, one)?,
            Some(one) => {
                let why =
                    "the pending payment has no date, so the last day of the charge is unknown";
                let last_day = due(one).ok_or_else(|| unsuitable(why))?;
                end_recurring(with_step_digest(new, END), self.charge, last_day)
            }
        }))
    }

    fn ignore(&self, new: EffectContext, occurrence: &Value) -> Result<Effect, Reason> {
        let id = text(occurrence, "id");
        let occurrence = RemoteId::new(id).map_err(|error| unsuitable(&error.to_string()))?;
        Ok(ignore_occurrence(with_step_digest(new, id), self.charge, &occurrence))
    }

    /// Refuses to touch a payment that is due today or in progress.
    fn check_not_due(&self, pending: &[Value], new: &EffectContext) -> Result<(), Reason> {
        // Without the merchant's time zone, the latest date that is today anywhere.
        let now = self.cx.now;
        let ahead = || now.checked_add_signed(TimeDelta::hours(14)).unwrap_or(now).date_naive();
        let today = today_of(self.cx, &new.merchant).unwrap_or_else(ahead);
        let fires = |one: &&Value| {
            // The documents show a declined payment as pending: only a request retries it.
            let failed = one.get("attempts").and_then(Value::as_i64).is_some_and(|tries| tries > 0);
            let due = due(one).is_some_and(|due| due <= today);
            due && !failed || text(one, "status") == "PAYING"
        };
        pending.iter().find(fires).map_or(Ok(()), |one| {
            Err(Reason::DueToday(format!(
                "document missing, but the payment due {} may be collected at any moment: the charge is ended after \
                 that",
                text(one, "due_date")
            )))
        })
    }

    /// Returns the pending occurrences of the last reading, however old: for display.
    fn pending(&self) -> Vec<Value> {
        let pending = self.have.fact("looked").get("pending").and_then(Value::as_array);
        pending.cloned().unwrap_or_default()
    }

    /// Returns the subject of a reading: after the last refusal, and not long ago.
    fn reading_subject(&self) -> Value {
        let refusal = self.have.refusal.as_ref().map(|refusal| refusal.intent);
        json!({
            "charge": self.charge,
            "account": self.have.fact("account_id"),
            "ended": self.end_was_set(),
            "after": refusal,
            "at": self.cx.now.timestamp().div_euclid(FRESH_S),
        })
    }

    /// Returns whether its last day was set for the removal of its document, and is the same.
    fn end_was_set(&self) -> bool {
        let end = self.have.fact("end");
        !end.is_null() && self.applied.spec.pointer("/schedule/end") == Some(end)
    }

    fn cannot_cancel(&self) -> bool {
        let wish = step_digest(self.applied, CANCEL);
        let refusal = self.have.refusal.as_ref().filter(|refusal| refusal.digest == wish);
        refusal.is_some_and(has_no_path)
    }

    /// Returns the amounts no longer collected: of each occurrence, and of the pending one.
    fn money(&self, new: &EffectContext) -> Vec<MoneyMove> {
        let each = self.applied.spec.get("amount").and_then(amount);
        let Some(each) = each else { return Vec::new() };
        let mode = new.mode;
        let pending = self.pending();
        let pending = pending.iter().filter_map(|one| one.get("amount").and_then(Value::as_i64));
        let pending = pending.map(|minor| MoneyMove {
            amount: Money::new(minor, each.currency()),
            mode,
            meaning: PENDING,
        });
        [MoneyMove { amount: each, mode, meaning: NO_LONGER }].into_iter().chain(pending).collect()
    }

    fn describe(&self) -> String {
        let way = if self.end_was_set() || self.cannot_cancel() {
            "the last day is set to that of the pending payment, which is ignored"
        } else {
            "the charge is cancelled, or, where the service cannot cancel, its last day is set and its pending \
             payment ignored"
        };
        match self.pending().first() {
            Some(one) => {
                format!("{way}; the payment due {} is not collected", text(one, "due_date"))
            }
            None => way.to_owned(),
        }
    }
}

fn due(occurrence: &Value) -> Option<NaiveDate> {
    text(occurrence, "due_date").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::super::step_tests::{HEAD, LATER, observed};
    use super::*;
    use crate::kinds::testing::manifest;

    /// Returns the reason for a document that comes back to a charge whose last day was set to this
    /// one.
    fn back(end: &str, facts: &Value) -> Option<String> {
        let put = json!({"schedule": {"end": end}});
        let have = observed(Some("ch1"), Some(put), facts.clone());
        let document = manifest("RecurringCharge", "it", &format!("{HEAD}{LATER}"));
        ended_reason(Some(&have), &document).map(|reason| reason.to_string())
    }

    #[test]
    fn a_document_that_comes_back_between_last_day_and_last_payment_waits_for_a_raised_generation()
    {
        let end = "2027-02-01";
        let told = back(end, &json!({ "end": end })).unwrap();
        assert!(told.contains("the last day was set to 2027-02-01"), "{told}");
        assert!(told.contains("raise reckon.dev/generation"), "{told}");
        assert_eq!(back(end, &json!({})), None, "its own document had said so");
        assert_eq!(back("2027-03-01", &json!({ "end": end })), None, "it was changed since");
    }
}
