//! Recurring charges: creation, reading, listing and status (gateway-api, Recurring charge;
//! service-facts, part 7).

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use super::occurrences;
use crate::api::Page;
use crate::api::methods::method::MethodRef;
use crate::api::recurring::charge::{
    NewRecurringCharge, RecurringCharge, RecurringSchedule, RecurringStatus,
};
use crate::api::recurring::rules;
use crate::api::wire::Timestamp;
use crate::base::schedule::{Day, IntervalUnit, Schedule as Calendar};
use crate::sandbox::http::refusal::SandboxRefusal;
use crate::sandbox::http::request::ParsedRequest;
use crate::sandbox::merchants::processing::need_currency;
use crate::sandbox::methods::payment_methods::{StoredMethod, resolve};
use crate::sandbox::methods::{expiry, tokens};
use crate::sandbox::options::ServiceSurface;
use crate::sandbox::payments::transactions::compare;
use crate::sandbox::state::events;
use crate::sandbox::state::lists::{ObjectKind, ObjectOwner, PageQuery, Stored};
use crate::sandbox::state::store::ChangeUnit;

pub(crate) const KIND: ObjectKind = ObjectKind { word: "recurring", name: "RecurringCharge" };

/// Private part of a recurring charge.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct RecurringInternals {
    pub(crate) method: StoredMethod,
    /// The pending occurrence.
    pub(crate) pending: Option<String>,
    /// Due date of the last occurrence that was paid, failed or ignored.
    #[serde(rename = "closed")]
    pub(crate) last_closed_date: Option<NaiveDate>,
    /// Number of scheduled payments tried, each counted once; `max_occurrences` limits it.
    #[serde(default)]
    pub(crate) tried: i64,
}

pub(crate) type StoredRecurring = Stored<RecurringCharge, RecurringInternals>;

/// A transition of a recurring charge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RecurringTransition {
    /// A request changes it.
    Update,
    /// Limits are reached, or no date is left.
    Complete,
    /// A request ends it.
    Cancel,
    /// A request removes it.
    Delete,
}

/// Returns the status after a change; `None` for a change that the status does not allow.
pub(crate) fn step(
    status: &RecurringStatus,
    change: RecurringTransition,
) -> Option<RecurringStatus> {
    use RecurringStatus as S;
    match (status, change) {
        (S::Active, RecurringTransition::Update) => Some(S::Active),
        (S::Active, RecurringTransition::Complete | RecurringTransition::Cancel) => {
            Some(S::Completed)
        }
        (S::Active | S::Completed, RecurringTransition::Delete) => Some(S::Deleted),
        (
            S::Completed,
            RecurringTransition::Update
            | RecurringTransition::Complete
            | RecurringTransition::Cancel,
        )
        | (
            S::Deleted | S::Other(_),
            RecurringTransition::Update
            | RecurringTransition::Complete
            | RecurringTransition::Cancel
            | RecurringTransition::Delete,
        ) => None,
    }
}

/// POST /v1/recurring/charges. The method is not verified; the start may not be today.
pub(crate) fn create(
    cx: &mut ChangeUnit<'_>,
    asked: &ParsedRequest,
    new: NewRecurringCharge,
) -> Result<RecurringCharge, SandboxRefusal> {
    let owner = asked.owner()?;
    SandboxRefusal::fields("", &rules::rules(&new))?;
    let merchant = cx.merchant(&owner.merchant)?;
    let schedule = new.schedule.clone().unwrap_or_default();
    refuse_today(&schedule, merchant.today(cx.now))?;
    let method = take_method(cx, &owner, new.method.clone())?;
    let kind = &method.shown.kind;
    let (named, of_key) = (new.account_id.as_deref(), asked.account_of_key());
    let account = merchant.account(owner.mode, kind, named, of_key)?;
    need_currency(account, new.currency.as_deref())?;
    let account = account.id.clone();
    cx.policy(&owner.merchant)?.need_reference(new.reference.as_deref())?;
    create_checked(cx, &owner, new, account, method)
}

/// Makes a recurring charge from checked parts, with its first occurrence.
pub(crate) fn create_checked(
    cx: &mut ChangeUnit<'_>,
    owner: &ObjectOwner,
    new: NewRecurringCharge,
    account: String,
    method: StoredMethod,
) -> Result<RecurringCharge, SandboxRefusal> {
    cx.policy(&owner.merchant)?.need_recurring(&account)?;
    let merchant = cx.merchant(&owner.merchant)?;
    let (today, currency) = (merchant.today(cx.now), merchant.currency(owner.mode, &account));
    let object = RecurringCharge { currency, ..build(cx, new, account, &method) };
    let sequence = cx.next();
    let inside = RecurringInternals { method, ..RecurringInternals::default() };
    let mut kept = Stored { owner: owner.clone(), sequence, object, internal: inside };
    let id = kept.object.id.clone();
    cx.create(KIND, &owner.key(), &id, &kept)?;
    events::emit(cx, owner, "recurring_charge.created", &kept.object)?;
    let first = occurrences::open(cx, &mut kept, today)?;
    let Some(first) = first else {
        let text = "The schedule has no occurrences";
        return Err(SandboxRefusal::rule("no_occurrences_for_schedule", text));
    };
    expiry::schedule_for_charge(cx, &kept)?;
    cx.update(KIND, &id, &kept)?;
    Ok(RecurringCharge { occurrences: Some(vec![first]), ..kept.object })
}

fn build(
    cx: &mut ChangeUnit<'_>,
    new: NewRecurringCharge,
    account: String,
    method: &StoredMethod,
) -> RecurringCharge {
    let now = Some(Timestamp(cx.now));
    let public = cx.environment.options.surface == ServiceSurface::Public;
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
fn take_method(
    cx: &mut ChangeUnit<'_>,
    owner: &ObjectOwner,
    method: Option<MethodRef>,
) -> Result<StoredMethod, SandboxRefusal> {
    let method = method.ok_or_else(SandboxRefusal::server_error)?;
    let resolved = resolve(cx, owner, method)?;
    match &resolved.token {
        Some(token) => tokens::end(cx, token)?,
        None => SandboxRefusal::fields("method", &resolved.method.problems)?,
    }
    let mut method = resolved.method;
    method.has_cvv = false;
    method.class.cvv_result = None;
    Ok(method)
}

/// Refuses a start today (service-facts, 63).
pub(crate) fn refuse_today(
    schedule: &RecurringSchedule,
    today: NaiveDate,
) -> Result<(), SandboxRefusal> {
    if schedule.start == Some(today) {
        let text = "The first occurrence would be due immediately";
        return Err(SandboxRefusal::rule("first_occurrence_due_immediately", text));
    }
    Ok(())
}

/// Converts the schedule to a calendar.
///
/// # Errors
///
/// 422 for an invalid schedule.
pub(crate) fn calendar(schedule: &RecurringSchedule) -> Result<Calendar, SandboxRefusal> {
    let wrong = || SandboxRefusal::field("schedule", "invalid", "Schedule is invalid");
    let unit = match schedule.interval_unit.as_deref() {
        Some("DAY") => IntervalUnit::Day,
        Some("WEEK") => IntervalUnit::Week,
        Some("MONTH") => IntervalUnit::Month,
        Some(_) | None => return Err(wrong()),
    };
    let days = schedule.days.iter().flatten().map(|day| day.parse::<Day>());
    let mut days = days.collect::<Result<Vec<_>, _>>().map_err(|_| wrong())?;
    days.sort_unstable();
    days.dedup();
    let delay = schedule.interval_delay.and_then(|delay| u32::try_from(delay).ok());
    Ok(Calendar {
        start: schedule.start.ok_or_else(wrong)?,
        interval_unit: unit,
        interval_delay: delay.ok_or_else(wrong)?,
        end: schedule.end,
        days,
    })
}

/// Returns a recurring charge of this owner.
pub(crate) fn find(
    cx: &ChangeUnit<'_>,
    owner: &ObjectOwner,
    id: &str,
) -> Result<StoredRecurring, SandboxRefusal> {
    cx.find(KIND, owner, id)
}

/// GET /v1/recurring/charges/{id}: without its occurrences.
pub(crate) fn get(
    cx: &mut ChangeUnit<'_>,
    asked: &ParsedRequest,
) -> Result<RecurringCharge, SandboxRefusal> {
    Ok(find(cx, &asked.owner()?, asked.parameter(0))?.object)
}

/// GET /v1/recurring/charges: newest first; filters `account_id`, `status`, `reference`.
pub(crate) fn list(
    cx: &mut ChangeUnit<'_>,
    asked: &ParsedRequest,
) -> Result<Page<RecurringCharge>, SandboxRefusal> {
    let owner = asked.owner()?;
    let paging = PageQuery::of(asked)?;
    let under = format!("{}/{}", KIND.word, owner.key());
    let show = |id: &str| find(cx, &owner, id).map(|kept| kept.object);
    let filters = ["account_id", "status", "reference"];
    let filters: Vec<_> =
        filters.iter().filter_map(|name| asked.query(name).map(|text| (*name, text))).collect();
    let order = asked.query("order_by");
    if filters.is_empty() && order.is_none() {
        return paging.of_list(cx, &under, show);
    }
    let mut found = Vec::new();
    for id in cx.ids(&under, 0, u64::MAX)? {
        let charge = show(&id)?;
        let value = serde_json::to_value(&charge)?;
        let fits =
            |name: &str, text: &str| value.get(name).and_then(|own| own.as_str()) == Some(text);
        if filters.iter().all(|(name, text)| fits(name, text)) {
            found.push((value, charge));
        }
    }
    for key in order.unwrap_or("-created").rsplit(',') {
        found.sort_by(|one, other| compare(key, &one.0, &other.0));
    }
    Ok(paging.of_vec(found.into_iter().map(|(_, charge)| charge).collect()))
}
