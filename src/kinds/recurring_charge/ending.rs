//! Neutralises a recurring charge whose document requested deletion and was removed.
//!
//! The charge is read, then cancelled. If the service has no such path, its last day is set to that
//! of its pending occurrence. Only then that occurrence is ignored, so that at no moment anything
//! is left to fire or opens anew. The charge is over when a final reading shows nothing pending. A
//! payment that is due today, or in progress, may be collected at any moment: then nothing is
//! assumed, and the charge is read again.

use chrono::{NaiveDate, TimeDelta};
use serde_json::{Value, json};

use super::today::today_of;
use crate::base::id::{Key, RemoteId};
use crate::base::money::Money;
use crate::effects::{
    Obligation, RECURRING_LOOK, cancel_recurring, end_recurring, has_no_path, ignore_occurrence,
};
use crate::kinds::diff::amount;
use crate::kinds::leaving::{going, obligation, waiting, wish, wished};
use crate::kinds::step::{Draft, StepCx, orphaned, text};
use crate::model::effect::{Effect, Reading, Work};
use crate::model::going::Going;
use crate::model::manifest::Manifest;
use crate::model::observed::{Applied, Observed};
use crate::model::plan::{MoneyMove, Reason, Verdict};

/// Meaning of the amount that occurrences no longer collect.
const NO_LONGER: &str = "no_longer_collected_per_occurrence";
/// Meaning of a pending amount that is not collected.
const PENDING: &str = "pending_not_collected";
/// Names of the steps, for the digests of their refusals.
const CANCEL: &str = "recurring.cancel";
const END: &str = "recurring.end";
/// Seconds for which a reading is used.
const FRESH_S: i64 = 15 * 60;

/// Returns the step of a recurring charge whose document was removed.
pub(super) fn gone(cx: &StepCx<'_>, key: &Key, have: &Observed) -> Draft {
    let Some(applied) = going(have) else { return orphaned() };
    let Some(charge) = &have.remote_id else {
        let why = "its id on the service is not known, so it cannot be ended".to_owned();
        return Draft::idle(Verdict::Blocked, Reason::Unfit(why));
    };
    let new = match obligation(cx, key, have, applied) {
        Ok(new) => new,
        Err(reason) => return waiting(reason),
    };
    let account = have.text("account_id").map(str::to_owned);
    let new = Obligation { account, ..new };
    let ending = Ending { cx, have, applied, charge };
    let money = ending.money(&new);
    let draft = match ending.next(new) {
        Ok(work) => {
            let reason = Reason::Going(Box::new(Going::Neutralised(ending.how())));
            Draft { work: Some(work), ready: true, ..Draft::idle(Verdict::Delete, reason) }
        }
        Err(reason) => Draft::idle(Verdict::Blocked, reason),
    };
    Draft { money, ..draft }
}

/// Returns the reason why a returned document cannot continue a charge that was ended meanwhile.
pub(super) fn ended(have: Option<&Observed>, manifest: &Manifest) -> Option<Reason> {
    let have = have?;
    let made = have.applied.as_ref().map_or(0, |applied| applied.generation);
    if made < manifest.annotations.generation {
        return None;
    }
    let how = have.text("ended").map(str::to_owned).or_else(|| half_ended(have, manifest))?;
    Some(Reason::Going(Box::new(Going::Ended(how))))
}

/// Detects a charge whose last day was set, which the service cannot remove, and whose document
/// came back before its last payment was ignored.
fn half_ended(have: &Observed, manifest: &Manifest) -> Option<String> {
    let end = have.text("end")?;
    let last = |spec: &Value| spec.pointer("/schedule/end").and_then(Value::as_str) == Some(end);
    let set = have.applied.as_ref().is_some_and(|applied| last(&applied.spec));
    (set && !last(&manifest.spec)).then(|| {
        format!("its last day was set to {end}, and what is due until then is still collected")
    })
}

struct Ending<'a> {
    cx: &'a StepCx<'a>,
    have: &'a Observed,
    applied: &'a Applied,
    charge: &'a RemoteId,
}

impl Ending<'_> {
    /// Returns the next work.
    ///
    /// # Errors
    ///
    /// The reason why none is possible now.
    fn next(&self, new: Obligation) -> Result<Work, Reason> {
        let Some(looked) = self.looked() else { return Ok(Work::Read(self.look(new))) };
        let pending = self.pending();
        self.firing(&pending, &new)?;
        let over = matches!(text(looked, "status"), "COMPLETED" | "DELETED");
        let first = pending.first();
        Ok(Work::Effect(match first {
            _ if !over && !self.is_ended() && !self.cannot_cancel() => {
                cancel_recurring(wish(new, CANCEL), self.charge)
            }
            None => {
                let why = "the service shows no occurrence of it that is pending, so nothing says when it is \
                           to end: end it on the service";
                return Err(Reason::Unfit(why.to_owned()));
            }
            Some(one) if over || self.is_ended() => self.ignore(new, one)?,
            Some(one) => end_recurring(wish(new, END), self.charge, due(one).ok_or_else(undated)?),
        }))
    }

    fn ignore(&self, new: Obligation, occurrence: &Value) -> Result<Effect, Reason> {
        let id = text(occurrence, "id");
        let occurrence = RemoteId::new(id).map_err(|error| Reason::Unfit(error.to_string()))?;
        Ok(ignore_occurrence(wish(new, id), self.charge, &occurrence))
    }

    /// Refuses to touch a payment that is due today or in progress.
    fn firing(&self, pending: &[Value], new: &Obligation) -> Result<(), Reason> {
        let today = today_of(self.cx, &new.merchant).unwrap_or_else(|| latest(self.cx));
        let fires = |one: &&Value| {
            // The documents show a declined payment as pending: only a request retries it.
            let failed = one.get("attempts").and_then(Value::as_i64).is_some_and(|tries| tries > 0);
            let due = due(one).is_some_and(|due| due <= today);
            due && !failed || text(one, "status") == "PAYING"
        };
        pending.iter().find(fires).map_or(Ok(()), |one| {
            Err(Reason::DueToday(format!(
                "its document is gone, but its payment due {} may be collected at any moment: it is ended once \
                 that is over",
                text(one, "due_date")
            )))
        })
    }

    /// Returns the last reading, if it matches the current subject.
    fn looked(&self) -> Option<&Value> {
        let looked = self.have.fact("looked");
        (looked.get("about") == Some(&self.about())).then_some(looked)
    }

    /// Returns the pending occurrences of the last reading, however old: for display.
    fn pending(&self) -> Vec<Value> {
        let pending = self.have.fact("looked").get("pending").and_then(Value::as_array);
        pending.cloned().unwrap_or_default()
    }

    /// Returns the subject of a reading: after the last refusal, and not long ago.
    fn about(&self) -> Value {
        let refusal = self.have.refusal.as_ref().map(|refusal| refusal.intent);
        json!({
            "charge": self.charge,
            "account": self.have.fact("account_id"),
            "ended": self.is_ended(),
            "after": refusal,
            "at": self.cx.now.timestamp().div_euclid(FRESH_S),
        })
    }

    fn look(&self, new: Obligation) -> Reading {
        Reading {
            name: RECURRING_LOOK,
            key: new.key,
            merchant: new.merchant,
            mode: new.mode,
            applied: new.applied,
            about: self.about(),
        }
    }

    /// Returns whether its last day was set because its document was removed, and is still the
    /// same.
    fn is_ended(&self) -> bool {
        let end = self.have.fact("end");
        !end.is_null() && self.applied.spec.pointer("/schedule/end") == Some(end)
    }

    /// Returns whether the service answered that it has no such path.
    fn cannot_cancel(&self) -> bool {
        let wish = wished(self.applied, CANCEL);
        let refusal = self.have.refusal.as_ref().filter(|refusal| refusal.digest == wish);
        refusal.is_some_and(has_no_path)
    }

    fn collected(&self) -> Option<Money> {
        self.applied.spec.get("amount").and_then(amount)
    }

    /// Returns the amounts no longer collected: of each occurrence, and of the pending one.
    fn money(&self, new: &Obligation) -> Vec<MoneyMove> {
        let Some(each) = self.collected() else { return Vec::new() };
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

    /// Describes the steps, and the payment that is not collected.
    fn how(&self) -> String {
        let way = if self.is_ended() || self.cannot_cancel() {
            "its last day is set to that of its pending payment, which is ignored"
        } else {
            "it is cancelled, or, where the service has no such path, its last day is set and its pending \
             payment ignored"
        };
        match self.pending().first() {
            Some(one) => format!("{way}; what is due {} is not collected", text(one, "due_date")),
            None => way.to_owned(),
        }
    }
}

fn due(occurrence: &Value) -> Option<NaiveDate> {
    text(occurrence, "due_date").parse().ok()
}

/// Returns the latest date that is today anywhere, for a merchant whose time zone is unknown.
fn latest(cx: &StepCx<'_>) -> NaiveDate {
    let ahead = cx.now.checked_add_signed(TimeDelta::hours(14)).unwrap_or(cx.now);
    ahead.date_naive()
}

fn undated() -> Reason {
    Reason::Unfit("its pending payment has no date, so nothing says when it is to end".to_owned())
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
        ended(Some(&have), &document).map(|reason| reason.to_string())
    }

    #[test]
    fn a_document_that_comes_back_between_last_day_and_last_payment_waits_for_a_raised_generation()
    {
        let end = "2027-02-01";
        let told = back(end, &json!({ "end": end })).unwrap();
        assert!(told.contains("its last day was set to 2027-02-01"), "{told}");
        assert!(told.contains("raise reckon.dev/generation"), "{told}");
        assert_eq!(back(end, &json!({})), None, "its own document had said so");
        assert_eq!(back("2027-03-01", &json!({ "end": end })), None, "it was changed since");
    }
}
