//! Recurring charges that begin with a charge: started together with it, or made from an earlier
//! one (gateway-api, POST /v1/charges with `recur`, POST /v1/charges/{chargeId}/schedule).

use chrono::NaiveDate;

use crate::api::recurring::{self, NewClone, NewRecurringCharge, RecurringCharge, RecurringStatus};
use crate::api::schedule::{Recur, RecurringSchedule};
use crate::api::transaction::{NewCharge, Transaction, TransactionType};
use crate::api::wire::Timestamp;
use crate::sandbox::answer::{Result, SandboxRefusal};
use crate::sandbox::merchants::events;
use crate::sandbox::payments::charges::{self, CheckedCharge};
use crate::sandbox::payments::transactions::StoredTransaction;
use crate::sandbox::recurring::state::{RecurringInternals, calendar, check_calendar};
use crate::sandbox::recurring::{occurrences, recurring_charges, state};
use crate::sandbox::request::ParsedRequest;
use crate::sandbox::state::objects::{ObjectKind, ObjectOwner, Stored};
use crate::sandbox::state::store::ChangeUnit;

/// A recurring charge to be started by the charge being made; its schedule is checked.
pub(crate) struct RecurringStart {
    recur: Recur,
    schedule: RecurringSchedule,
    today: NaiveDate,
    recurring: String,
    occurrence: String,
}

impl RecurringStart {
    /// Checks the schedule, before any money moves.
    pub(crate) fn new(
        cx: &mut ChangeUnit,
        owner: &ObjectOwner,
        account: &str,
        recur: Recur,
    ) -> Result<Self> {
        cx.policy(&owner.merchant)?.need_recurring(account)?;
        let today = cx.merchant(&owner.merchant)?.today(cx.now);
        let schedule = RecurringSchedule {
            interval_unit: recur.interval_unit.clone(),
            interval_delay: recur.interval_delay,
            start: Some(today),
            end: recur.end,
            days: recur.days.clone(),
        };
        let problems = calendar(&schedule)?.problems();
        // Today's payment happens in any case, so an end before the next date is no problem.
        let ended = recur.end.is_some_and(|end| end < today);
        let faults = problems.into_iter().filter(|problem| problem.field != "end" || ended);
        check_calendar("recur", &faults.collect::<Vec<_>>())?;
        Ok(Self {
            recur,
            schedule,
            today,
            recurring: cx.fresh_gateway_id(),
            occurrence: cx.fresh_gateway_id(),
        })
    }

    /// Returns the ids that the charge carries: recurring charge and occurrence.
    pub(crate) fn ids(&self) -> (String, String) {
        (self.recurring.clone(), self.occurrence.clone())
    }

    /// Makes the recurring charge; its first occurrence is paid by this charge.
    pub(crate) fn begin(self, cx: &mut ChangeUnit, paid: &StoredTransaction) -> Result<()> {
        let (occurrence, today) = (self.occurrence.clone(), self.today);
        let sequence = cx.next();
        let object = self.object(cx, &paid.object);
        let method = paid.internal.clone().without_cvv();
        let inside = RecurringInternals {
            method,
            last_closed_date: Some(today),
            tried: 1,
            ..RecurringInternals::default()
        };
        let mut kept = Stored { owner: paid.owner.clone(), sequence, object, internal: inside };
        let id = kept.object.id.clone();
        cx.create(ObjectKind::RECURRING_CHARGE, &paid.owner.key(), &id, &kept)?;
        events::emit(cx, &paid.owner, "recurring_charge.created", &kept.object)?;
        occurrences::create_paid(cx, &kept, &occurrence, paid, today)?;
        occurrences::open(cx, &mut kept, today)?;
        state::schedule_expiry(cx, &kept)?;
        cx.update(ObjectKind::RECURRING_CHARGE, &id, &kept)
    }

    fn object(self, cx: &ChangeUnit, paid: &Transaction) -> RecurringCharge {
        let Self { recur, schedule, today: _, recurring, occurrence: _ } = self;
        let public = cx.is_public();
        let now = Some(Timestamp(cx.now));
        RecurringCharge {
            id: recurring,
            status: RecurringStatus::Active,
            account_id: paid.account_id.clone(),
            method: paid.method.clone(),
            schedule: Some(schedule),
            description: recur.description,
            amount: recur.amount.unwrap_or(paid.amount),
            currency: paid.currency.clone(),
            max_occurrences: recur.max_occurrences,
            max_amount: recur.max_amount,
            total_occurrences: 1,
            total_amount: paid.amount,
            data: paid.data.clone().filter(|_| public),
            created: now,
            modified: now,
            ..RecurringCharge::default()
        }
    }
}

/// POST /v1/charges. With `recur`, an accepted charge starts a recurring charge.
pub(crate) fn charge(
    cx: &mut ChangeUnit,
    asked: &ParsedRequest,
    new: NewCharge,
) -> Result<Transaction> {
    let mut charge = CheckedCharge::of(cx, asked, new)?;
    let recur = charge.recur.take();
    let start = recur.map(|recur| RecurringStart::new(cx, &charge.owner, &charge.account, recur));
    let start = start.transpose()?;
    let kept = charge.make(cx, asked, start.as_ref().map(RecurringStart::ids))?;
    // A decline makes no recurring charge (gateway-api, POST /v1/charges, rule 4).
    if let Some(start) = start.filter(|_| kept.object.failure_code.is_none()) {
        start.begin(cx, &kept)?;
    }
    charges::into_answer(kept)
}

/// POST /v1/charges/{id}/schedule: method and customer are those of the charge. The start may be
/// today: the next payment is on or after today (gateway-api).
pub(crate) fn schedule(
    cx: &mut ChangeUnit,
    asked: &ParsedRequest,
    new: NewClone,
) -> Result<RecurringCharge> {
    let owner = asked.owner()?;
    let id = asked.parameter(0);
    let charge: StoredTransaction = cx.find(ObjectKind::TRANSACTION, &owner, id)?;
    if charge.object.kind != TransactionType::Charge {
        return Err(SandboxRefusal::not_found("Charge", id));
    }
    SandboxRefusal::fields("", &recurring::clone_rules(&new))?;
    let schedule = new.schedule.unwrap_or_default();
    let account = charge.object.account_id.clone();
    let new = NewRecurringCharge {
        amount: new.amount,
        schedule: Some(schedule),
        ..NewRecurringCharge::default()
    };
    recurring_charges::create_checked(cx, &owner, new, account, charge.internal.without_cvv())
}
