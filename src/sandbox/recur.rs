//! Recurring charges that begin with a charge: started together with it, or made from an earlier
//! one (gateway-api, POST /v1/charges with `recur`, POST /v1/charges/{chargeId}/schedule).

use chrono::NaiveDate;

use crate::api::recurring::{self as api, NewClone, NewRecurringCharge, Recur, RecurringCharge};
use crate::api::recurring::{RecurringStatus, Schedule};
use crate::api::rules::FieldProblem;
use crate::api::transaction::{Transaction, TransactionType};
use crate::api::wire::Timestamp;
use crate::sandbox::asked::Asked;
use crate::sandbox::lists::{Kept, Owner};
use crate::sandbox::methods::KeptMethod;
use crate::sandbox::options::Surface;
use crate::sandbox::recurring::{self, Inside, calendar};
use crate::sandbox::refusal::Refusal;
use crate::sandbox::state::Cx;
use crate::sandbox::transactions::KeptTransaction;
use crate::sandbox::{charges, events, expiry, occurrences};

/// A recurring charge to be started by the charge being made; its schedule is checked.
pub(crate) struct Start {
    recur: Recur,
    schedule: Schedule,
    today: NaiveDate,
    recurring: String,
    occurrence: String,
}

impl Start {
    /// Checks the schedule, before any money moves.
    pub(crate) fn new(
        cx: &mut Cx<'_>,
        owner: &Owner,
        account: &str,
        recur: Recur,
    ) -> Result<Self, Refusal> {
        cx.policy(&owner.merchant)?.need_recurring(account)?;
        let today = cx.merchant(&owner.merchant)?.today(cx.now);
        let schedule = Schedule {
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
        let faults: Vec<FieldProblem> = faults
            .map(|problem| FieldProblem {
                context: format!("recur.{}", problem.field),
                sub_code: "invalid".to_owned(),
                message: problem.message,
            })
            .collect();
        Refusal::fields("", &faults)?;
        Ok(Self { recur, schedule, today, recurring: cx.id(), occurrence: cx.id() })
    }

    /// Returns the ids that the charge carries: recurring charge and occurrence.
    pub(crate) fn ids(&self) -> (String, String) {
        (self.recurring.clone(), self.occurrence.clone())
    }

    /// Makes the recurring charge; its first occurrence is paid by this charge.
    pub(crate) fn begin(self, cx: &mut Cx<'_>, paid: &KeptTransaction) -> Result<(), Refusal> {
        let (occurrence, today) = (self.occurrence.clone(), self.today);
        let sequence = cx.next();
        let object = self.object(cx, &paid.object);
        let method = for_later(paid.inside.clone());
        let inside = Inside { method, closed: Some(today), tried: 1, ..Inside::default() };
        let mut kept = Kept { owner: paid.owner.clone(), sequence, object, inside };
        let id = kept.object.id.clone();
        cx.create(recurring::KIND, &paid.owner.key(), &id, &kept)?;
        events::emit(cx, &paid.owner, "recurring_charge.created", &kept.object)?;
        occurrences::paid(cx, &kept, &occurrence, paid, today)?;
        occurrences::open(cx, &mut kept, today)?;
        expiry::plan(cx, &kept)?;
        cx.update(recurring::KIND, &id, &kept)
    }

    fn object(self, cx: &Cx<'_>, paid: &Transaction) -> RecurringCharge {
        let Self { recur, schedule, today: _, recurring, occurrence: _ } = self;
        let public = cx.world.options.surface == Surface::Public;
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

/// Prepares a method for later payments: the CVV is not kept.
pub(crate) fn for_later(mut method: KeptMethod) -> KeptMethod {
    method.has_cvv = false;
    method.class.cvv_result = None;
    method
}

/// POST /v1/charges/{id}/schedule: method and customer are those of the charge. The start may be
/// today: the next payment is on or after today (gateway-api).
pub(crate) fn schedule(
    cx: &mut Cx<'_>,
    asked: &Asked,
    new: NewClone,
) -> Result<RecurringCharge, Refusal> {
    let owner = asked.owner()?;
    let id = asked.parameter(0);
    let charge: KeptTransaction = cx.find(charges::KIND, &owner, id)?;
    if charge.object.kind != TransactionType::Charge {
        return Err(Refusal::missing("Charge", id));
    }
    Refusal::fields("", &api::clone_rules(&new))?;
    let schedule = new.schedule.unwrap_or_default();
    let account = charge.object.account_id.clone();
    let new = NewRecurringCharge {
        amount: new.amount,
        schedule: Some(schedule),
        ..NewRecurringCharge::default()
    };
    recurring::begin(cx, &owner, new, account, for_later(charge.inside))
}
