//! Recurring charges: creation, reading, listing and preview (gateway-api, Recurring charge, GET
//! /v1/recurring/charges/schedule; service-facts, part 7).
//!
//! Some begin with a charge: started together with it, or made from an earlier one (gateway-api, POST
//! /v1/charges with `recur`, POST /v1/charges/{chargeId}/schedule).

use chrono::NaiveDate;
use serde_json::Value;

use crate::api::call::Page;
use crate::api::method_token::MethodRef;
use crate::api::recurring::{self, NewClone, NewRecurringCharge, RecurringCharge, RecurringStatus};
use crate::api::schedule::{
    PREVIEW_OCCURRENCES_DEFAULT, PREVIEW_OCCURRENCES_MAX, Preview, PreviewOccurrence,
    PreviewRequest, Recur, RecurringSchedule,
};
use crate::api::transaction::{NewCharge, Transaction, TransactionType};
use crate::api::wire::Timestamp;
use crate::sandbox::answer::{Result, SandboxRefusal};
use crate::sandbox::merchants::events;
use crate::sandbox::merchants::processing::need_currency;
use crate::sandbox::methods::payment_methods::StoredMethod;
use crate::sandbox::methods::saved_methods::resolve_method;
use crate::sandbox::methods::tokens;
use crate::sandbox::payments::charges::{self, CheckedCharge};
use crate::sandbox::payments::search::sorted_page;
use crate::sandbox::payments::transactions::StoredTransaction;
use crate::sandbox::recurring::occurrences;
use crate::sandbox::recurring::state::{self, RecurringInternals, calendar, check_calendar};
use crate::sandbox::request::{PageQuery, ParsedRequest, number};
use crate::sandbox::state::objects::{ObjectKind, ObjectOwner, Stored, to_usize};
use crate::sandbox::state::store::ChangeUnit;

/// POST /v1/recurring/charges. The method is not verified; the start may not be today.
pub(crate) fn create(
    cx: &mut ChangeUnit,
    asked: &ParsedRequest,
    new: NewRecurringCharge,
) -> Result<RecurringCharge> {
    let owner = asked.owner()?;
    SandboxRefusal::fields("", &recurring::recurring_rules(&new))?;
    let merchant = cx.merchant(&owner.merchant)?;
    let schedule = new.schedule.clone().unwrap_or_default();
    state::refuse_today(&schedule, merchant.today(cx.now))?;
    let method = new.method.clone().ok_or_else(SandboxRefusal::server_error)?;
    let method = take_method(cx, &owner, method)?;
    let kind = &method.shown.kind;
    let (named, of_key) = (new.account_id.as_deref(), asked.account_of_key());
    let account = merchant.account(owner.mode, kind, named, of_key)?;
    need_currency(account, new.currency.as_deref())?;
    let account = account.id.clone();
    cx.policy(&owner.merchant)?.need_reference(new.reference.as_deref())?;
    create_checked(cx, &owner, new, account, method)
}

/// Makes a recurring charge from checked parts, with its first occurrence.
fn create_checked(
    cx: &mut ChangeUnit,
    owner: &ObjectOwner,
    new: NewRecurringCharge,
    account: String,
    method: StoredMethod,
) -> Result<RecurringCharge> {
    cx.policy(&owner.merchant)?.need_recurring(&account)?;
    let merchant = cx.merchant(&owner.merchant)?;
    let (today, currency) = (merchant.today(cx.now), merchant.currency(owner.mode, &account));
    let object = RecurringCharge { currency, ..build(cx, new, account, &method) };
    let sequence = cx.next();
    let inside = RecurringInternals { method, ..RecurringInternals::default() };
    let mut kept = Stored { owner: owner.clone(), sequence, object, internal: inside };
    let id = kept.object.id.clone();
    cx.create(ObjectKind::RECURRING_CHARGE, &owner.key(), &id, &kept)?;
    events::emit(cx, owner, "recurring_charge.created", &kept.object)?;
    let text = "The schedule has no occurrences";
    let none = || SandboxRefusal::rule("no_occurrences_for_schedule", text);
    let first = occurrences::open(cx, &mut kept, today)?.ok_or_else(none)?;
    state::schedule_expiry(cx, &kept)?;
    cx.update(ObjectKind::RECURRING_CHARGE, &id, &kept)?;
    Ok(RecurringCharge { occurrences: Some(vec![first]), ..kept.object })
}

fn build(
    cx: &mut ChangeUnit,
    new: NewRecurringCharge,
    account: String,
    method: &StoredMethod,
) -> RecurringCharge {
    let now = Some(Timestamp(cx.now));
    let public = cx.is_public();
    RecurringCharge {
        id: cx.fresh_gateway_id(),
        status: RecurringStatus::Active,
        account_id: account,
        method: Some(method.shown.clone()),
        schedule: new.schedule,
        description: new.description,
        reference: new.reference.filter(|_| public),
        amount: new.amount.unwrap_or(0),
        max_occurrences: new.max_occurrences,
        max_amount: new.max_amount,
        data: new.data.filter(|_| public),
        created: now,
        modified: now,
        ..RecurringCharge::default()
    }
}

/// Copies the method of a request. A token is used up, and a CVV is not kept.
fn take_method(cx: &mut ChangeUnit, owner: &ObjectOwner, given: MethodRef) -> Result<StoredMethod> {
    let resolved = resolve_method(cx, owner, given)?;
    match &resolved.token {
        Some(token) => tokens::end(cx, token)?,
        None => SandboxRefusal::fields("method", &resolved.method.problems)?,
    }
    Ok(resolved.method.without_cvv())
}

/// GET /v1/recurring/charges/{id}: without its occurrences.
pub(crate) fn get(cx: &mut ChangeUnit, asked: &ParsedRequest) -> Result<RecurringCharge> {
    Ok(state::find_charge(cx, &asked.owner()?, asked.parameter(0))?.object)
}

/// GET /v1/recurring/charges: newest first; filters `account_id`, `status`, `reference`.
pub(crate) fn list(cx: &mut ChangeUnit, asked: &ParsedRequest) -> Result<Page<RecurringCharge>> {
    let owner = asked.owner()?;
    let paging = PageQuery::of(asked)?;
    let under = ObjectKind::RECURRING_CHARGE.list(&owner.key());
    let show = |id: &str| state::find_charge(cx, &owner, id).map(|kept| kept.object);
    let filters = ["account_id", "status", "reference"].into_iter();
    let filters = filters.filter_map(|name| Some((name, asked.query(name)?)));
    let filters: Vec<_> = filters.collect();
    let order = asked.query("order_by");
    if filters.is_empty() && order.is_none() {
        return paging.of_list(cx, &under, show);
    }
    let ids = cx.ids(&under, 0, u64::MAX)?;
    let all = ids.iter().map(|id| show(id)).collect::<Result<Vec<_>>>()?;
    sorted_page(paging, all, order.unwrap_or("-created"), |_, value| {
        filters.iter().all(|(name, text)| value.get(name).and_then(Value::as_str) == Some(text))
    })
}

/// Payments counted for the remaining ones; a longer schedule is reported without an end.
const REMAINING_MAX: usize = 10_000;

pub(crate) fn preview(
    cx: &mut ChangeUnit,
    asked: &ParsedRequest,
    request: PreviewRequest,
) -> Result<Preview> {
    let shown = number(asked, "occurrences", 1, PREVIEW_OCCURRENCES_MAX)?;
    let shown = to_usize(shown.unwrap_or(PREVIEW_OCCURRENCES_DEFAULT));
    let today = cx.merchant(&asked.owner()?.merchant)?.today(cx.now);
    let first = first_date(asked, today)?;
    let mut schedule = request.schedule.unwrap_or_default();
    schedule.start.get_or_insert(first);
    let new = NewRecurringCharge {
        amount: request.amount,
        schedule: Some(schedule),
        max_occurrences: request.max_occurrences,
        max_amount: request.max_amount,
        ..NewRecurringCharge::default()
    };
    // The rules of a new recurring charge, without those of its method.
    let mut problems = recurring::recurring_rules(&new);
    problems.retain(|problem| problem.context != "method");
    SandboxRefusal::fields("", &problems)?;
    let amount = new.amount.unwrap_or(0);
    let schedule = new.schedule.unwrap_or_default();
    let calendar = calendar(&schedule)?;
    let dates = calendar.dates_from(first).take(REMAINING_MAX);
    let all = payments(dates, amount, new.max_occurrences, new.max_amount);
    let ends = all.len() < REMAINING_MAX;
    let sum = all.iter().try_fold(0_i64, |sum, (_, amount)| sum.checked_add(*amount));
    let next_payment = all.first().map(|(date, _)| *date);
    let remaining_occurrences = i64::try_from(all.len()).ok().filter(|_| ends);
    let show = |(date, amount)| PreviewOccurrence { amount, due_date: Some(date) };
    Ok(Preview {
        amount,
        max_occurrences: new.max_occurrences,
        max_amount: new.max_amount,
        remaining_occurrences,
        remaining_amount: sum.filter(|_| ends),
        next_payment,
        occurrences: all.into_iter().take(shown).map(show).collect(),
        schedule: Some(schedule),
        ..Preview::default()
    })
}

/// Returns the dates with their amounts, until a limit ends them.
fn payments(
    dates: impl Iterator<Item = NaiveDate>,
    amount: i64,
    most: Option<i64>,
    mut left: Option<i64>,
) -> Vec<(NaiveDate, i64)> {
    let most = most.and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX);
    let mut all = Vec::new();
    for date in dates.take(most) {
        let due = left.map_or(amount, |left| left.min(amount));
        if due <= 0 {
            break;
        }
        left = left.map(|left| left.saturating_sub(due));
        all.push((date, due));
    }
    all
}

/// Returns the first date that counts: `start_date`, or tomorrow; today with `start_date_charge`.
fn first_date(asked: &ParsedRequest, today: NaiveDate) -> Result<NaiveDate> {
    let wrong = || SandboxRefusal::field("start_date", "invalid", "Start date is invalid");
    let with_charge = asked.query("start_date_charge") == Some("true");
    let date = match asked.query("start_date") {
        Some(text) => text.parse().map_err(|_| wrong())?,
        None if with_charge => today,
        None => today.succ_opt().ok_or_else(wrong)?,
    };
    if with_charge && date != today { Err(wrong()) } else { Ok(date) }
}

/// A recurring charge to be started by the charge being made; its schedule is checked.
struct RecurringStart {
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
        let (recurring, occurrence) = (cx.fresh_gateway_id(), cx.fresh_gateway_id());
        Ok(Self { recur, schedule, today, recurring, occurrence })
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
        let method = paid.method().without_cvv();
        let last_closed_date = Some(today);
        let inside = RecurringInternals { method, pending: None, last_closed_date, tried: 1 };
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
    let NewClone { amount, schedule } = new;
    let account = charge.object.account_id.clone();
    let schedule = Some(schedule.unwrap_or_default());
    let new = NewRecurringCharge { amount, schedule, ..NewRecurringCharge::default() };
    create_checked(cx, &owner, new, account, charge.method().without_cvv())
}
