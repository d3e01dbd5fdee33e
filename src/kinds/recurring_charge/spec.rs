//! Typed spec of a recurring charge, the table of its fields, and its schedule as people write it:
//! each field of the schedule is decoded by itself, so that one run reports every problem.

use chrono::{Days, NaiveDate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::base::decode::problem::DecodeProblem;
use crate::base::schedule::{Day, IntervalUnit, Schedule};
use crate::kinds::decode_error::clean;
use crate::kinds::schema::kind::{SpecField, spec_fields};
use crate::kinds::schema::values::{Amount, RefusedField, WholeNumber};
use crate::model::issue::Issue;

/// Recurring charge, which a saved method pays by a schedule (gateway-api, POST
/// /v1/recurring/charges, POST /v1/charges with `recur`, POST /v1/charges/{chargeId}/schedule).
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Spec")]
pub struct RecurringChargeSpec {
    pub merchant: String,
    pub method: Option<String>,
    pub amount: Amount,
    pub first_amount: Option<Amount>,
    /// reckon adds its mark when the text is sent. The documents name no limit.
    pub description: Option<String>,
    pub account: Option<String>,
    pub max_occurrences: Option<WholeNumber>,
    pub max_amount: Option<Amount>,
    pub schedule: ScheduleSpec,
    #[serde(default, skip_serializing_if = "is_default")]
    pub first_charge: FirstCharge,
    #[serde(default, skip_serializing_if = "is_default")]
    pub surcharge: Surcharge,
    pub from_charge: Option<String>,
    #[serde(default, skip_serializing)]
    pub reference: RefusedField,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FirstCharge {
    /// On the first date of the schedule.
    #[default]
    Scheduled,
    /// When the recurring charge is created.
    Now,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Surcharge {
    /// Adds nothing.
    #[default]
    None,
    /// Adds the merchant's surcharge, as the service computes it.
    Apply,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Days within which every day of a week or month occurs.
const YEAR_DAYS: u64 = 366;

/// Due dates of payments (gateway-api, recur object). The canonical form is the one on the wire.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScheduleSpec {
    pub start: Option<String>,
    pub interval_unit: IntervalUnit,
    pub interval_delay: WholeNumber,
    pub end: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub days: Vec<String>,
}

impl ScheduleSpec {
    /// Returns every issue; with `now` the first charge is made now, and no start is written.
    pub(super) fn issues(&self, now: bool) -> Vec<Issue> {
        let mut issues = Vec::new();
        let start = match &self.start {
            Some(start) => ok_or_record(date("spec.schedule.start", start), &mut issues),
            None if now => None,
            None => {
                issues.push(missing_field_issue("spec.schedule.start"));
                None
            }
        };
        if now && self.start.is_some() {
            issues.push(start_now());
        }
        let schedule = self.read(start, &mut issues);
        if let Some(schedule) = schedule.filter(|_| issues.is_empty()) {
            issues.extend(schedule.problems().into_iter().map(|problem| {
                let item = problem.item.map(|item| format!("[{item}]")).unwrap_or_default();
                let path = format!("spec.schedule.{}{item}", problem.field);
                let code = "reckon::recurring_charge::schedule";
                Issue::error(code, &path, problem.message, problem.help)
            }));
        }
        issues
    }

    /// Returns the schedule, as far as it can be decoded. Without a start it is checked from a day
    /// that is early enough for every rule except those about the start.
    fn read(&self, start: Option<NaiveDate>, issues: &mut Vec<Issue>) -> Option<Schedule> {
        let Self { start: _, interval_unit, interval_delay, end, days } = self;
        let end = end.as_deref().map(|end| ok_or_record(date("spec.schedule.end", end), issues));
        let days =
            days.iter().enumerate().map(|(index, text)| ok_or_record(day(index, text), issues));
        let days: Vec<Day> = days.flatten().collect();
        let end = end.flatten();
        let early = end.and_then(|end| end.checked_sub_days(Days::new(YEAR_DAYS)));
        Some(Schedule {
            start: start.or(early).unwrap_or(NaiveDate::from_ymd_opt(2000, 1, 1)?),
            interval_unit: *interval_unit,
            interval_delay: interval_delay.0,
            end,
            days,
        })
    }
}

fn start_now() -> Issue {
    let message = "the first charge is made now, and the schedule starts with it";
    let help = "leave `start` out, or write `first_charge: scheduled`";
    let path = "spec.schedule.start";
    Issue::error("reckon::recurring_charge::start_now", path, message, help)
        .underline_key()
        .with_related(None, "spec.first_charge", "the first charge is made now")
}

fn ok_or_record<T>(read: Result<T, Issue>, issues: &mut Vec<Issue>) -> Option<T> {
    read.map_err(|issue| issues.push(issue)).ok()
}

fn date(path: &str, text: &str) -> Result<NaiveDate, Issue> {
    let date = NaiveDate::parse_from_str(text, "%Y-%m-%d").ok().filter(|_| text.len() == 10);
    date.ok_or_else(|| {
        let message = format!("`{text}` is not a date");
        let help = "write year, month and day, such as `2026-12-01`";
        Issue::error("reckon::recurring_charge::date", path, message, help)
    })
}

fn day(index: usize, text: &str) -> Result<Day, Issue> {
    text.parse().map_err(|_| {
        let path = format!("spec.schedule.days[{index}]");
        let message = format!("`{text}` is not a day");
        let help = "write a number such as `\"15\"`, or `LAST`";
        Issue::error("reckon::recurring_charge::day", &path, message, help)
    })
}

pub(super) const FIELDS: &[SpecField] = spec_fields! {
    Plain Immutable "merchant": "The merchant that is paid, NAME or NAMESPACE/NAME (design, Files).";
    Plain ReplaceByToken "method": "The saved method that pays, NAME or NAMESPACE/NAME; not with `from_charge` (gateway-api, POST /v1/recurring/charges).";
    Plain InPlace "amount": "Amount that each occurrence collects, such as `\"50.00 USD\"` (gateway-api, Recurring charge).";
    Plain Immutable "first_amount": "Amount of the first charge, where it differs from `amount`; only with `first_charge: now` (gateway-api, POST /v1/charges and its recur object).";
    Plain InPlace "description": "A text of the merchant's own (gateway-api, Recurring charge).";
    Plain Immutable "account": "The account that is paid, its name or id; left out, the primary one (gateway-api, POST /v1/recurring/charges, account_id).";
    Plain InPlace "max_occurrences": "Number of scheduled payments after which the charge is complete (gateway-api, recur object).";
    Plain InPlace "max_amount": "Total to collect before the charge is complete, at least `amount` (gateway-api, recur object).";
    Plain InPlace "schedule": "Dates on which payments are due (gateway-api, recur object).";
    Plain InPlace "schedule.start": "The first date that may be due, `YYYY-MM-DD`; not the day of creation, and none with `first_charge: now` (gateway-api, POST /v1/recurring/charges).";
    Plain InPlace "schedule.interval_unit": "`DAY`, `WEEK` or `MONTH` (service-facts, 58).";
    Plain InPlace "schedule.interval_delay": "1 for every unit, 2 for every other (gateway-api, recur object).";
    Plain InPlace "schedule.end": "The last date that may be due, `YYYY-MM-DD` (gateway-api, recur object).";
    Plain InPlace "schedule.days": "With every WEEK `\"1\"` (Monday) to `\"7\"`, with every MONTH `\"1\"` to `\"31\"` and `LAST` (gateway-api, recur object).";
    Plain Immutable "first_charge": "`scheduled` waits for the first date; `now` charges at once, and that payment is the first (gateway-api, POST /v1/charges, recur).";
    Plain Immutable "surcharge": "`apply` adds the merchant's surcharge to the charge made now, and to it alone; `none` adds nothing (gateway-api, GET /bank-accounts/{bank_account_id}/surcharge).";
    Plain Immutable "from_charge": "The id of an earlier charge, whose method and customer are used; replaces `method`, `account`, limits and `first_charge` (gateway-api, POST /v1/charges/{chargeId}/schedule).";
};

/// Returns the issue of a missing field, worded as by the decoder.
pub(super) fn missing_field_issue(path: &str) -> Issue {
    let (parent, name) = path.rsplit_once('.').unwrap_or((".", path));
    clean(FIELDS, parent, DecodeProblem::MissingField { name: name.to_owned() }).issue()
}
