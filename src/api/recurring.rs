//! Charges that repeat, and their occurrences (gateway-api, Recurring charge).

use chrono::NaiveDate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::method::{MethodRef, PaymentMethod};
use crate::api::occurrence::Occurrence;
use crate::api::query::{ACCOUNT, Holds, ORDER, PAGE, PAGE_SIZE, Parameter, REFERENCE};
use crate::api::rules::AMOUNT_MAX;
use crate::api::wire::{self, Timestamp};
use crate::api::{Auth, Endpoint, Host, Method, Page};

mod actions;
mod rules;

pub use actions::{CancelRecurring, DeleteRecurring, NewClone, ScheduleCharge};
pub use rules::{change_rules, clone_rules, recur_rules, rules, schedule_rules};

wire::words! {
    /// Where a recurring charge stands (service-facts, 57).
    RecurringStatus {
        /// Goes on.
        Active = "ACTIVE",
        /// Reached its end, or was cancelled.
        Completed = "COMPLETED",
        /// Removed.
        Deleted = "DELETED",
    }
}

/// When occurrences fall due.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Schedule {
    /// `DAY`, `WEEK` or `MONTH`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["DAY", "WEEK", "MONTH"]))]
    pub interval_unit: Option<String>,
    /// Every how many units.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub interval_delay: Option<i64>,
    /// The first date looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<NaiveDate>,
    /// Nothing after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<NaiveDate>,
    /// `"1"` to `"7"` in weeks, days of the month or `LAST` in months; interval 1 only.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(inner(regex(pattern = r"^([1-9]|[12][0-9]|3[01]|LAST)$")))]
    pub days: Option<Vec<String>>,
}

/// The schedule that a charge starts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("required" = ["interval_unit", "interval_delay"]))]
pub struct Recur {
    /// A text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Minor units, where it differs from the charge's.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = AMOUNT_MAX))]
    pub amount: Option<i64>,
    /// `DAY`, `WEEK` or `MONTH`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["DAY", "WEEK", "MONTH"]))]
    pub interval_unit: Option<String>,
    /// Every how many units.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub interval_delay: Option<i64>,
    /// Nothing after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<NaiveDate>,
    /// As in a schedule.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(inner(regex(pattern = r"^([1-9]|[12][0-9]|3[01]|LAST)$")))]
    pub days: Option<Vec<String>>,
    /// Scheduled payments until it is complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_occurrences: Option<i64>,
    /// Minor units to collect until it is complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = AMOUNT_MAX))]
    pub max_amount: Option<i64>,
}

/// The request that makes a recurring charge.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("required" = ["amount", "method", "schedule"]))]
pub struct NewRecurringCharge {
    /// A text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Put on each charge; a server may ignore it (service-facts, 64).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// The primary account of the method's type by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account_id: Option<String>,
    /// Minor units of each occurrence; required.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = AMOUNT_MAX))]
    pub amount: Option<i64>,
    /// Three letters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    /// A saved method or a token; inline details are accepted too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<MethodRef>,
    /// Required; may not start today.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("required" = ["interval_unit", "interval_delay", "start"]))]
    pub schedule: Option<Schedule>,
    /// Scheduled payments until it is complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_occurrences: Option<i64>,
    /// Minor units to collect until it is complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = AMOUNT_MAX))]
    pub max_amount: Option<i64>,
    /// Any object; copied to its charges (service-facts, 33).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub data: Option<serde_json::Value>,
}

/// What a PATCH changes; what is absent stays.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RecurringChange {
    /// A text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// For the charges to come.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// The account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account_id: Option<String>,
    /// Minor units; the pending occurrence's too.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = AMOUNT_MAX))]
    pub amount: Option<i64>,
    /// A token's id for sensitive data; `type` and the changed fields for the rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<MethodRef>,
    /// Moves the pending occurrence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Schedule>,
    /// Scheduled payments until it is complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_occurrences: Option<i64>,
    /// Minor units to collect until it is complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = AMOUNT_MAX))]
    pub max_amount: Option<i64>,
}

/// A recurring charge as the service shows it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RecurringCharge {
    /// 22 characters.
    pub id: String,
    /// Where it stands.
    pub status: RecurringStatus,
    /// `schedule_complete` or `user_canceled`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status_reason: Option<String>,
    /// The account.
    pub account_id: String,
    /// Masked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<PaymentMethod>,
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Schedule>,
    /// A text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Put on each charge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// Minor units of each occurrence.
    pub amount: i64,
    /// Three letters.
    pub currency: String,
    /// Its limit of payments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_occurrences: Option<i64>,
    /// Its limit of money, minor units.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_amount: Option<i64>,
    /// Attempted so far.
    pub total_occurrences: i64,
    /// Minor units, so far.
    pub total_amount: i64,
    /// In previews.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remaining_occurrences: Option<i64>,
    /// In previews, minor units.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remaining_amount: Option<i64>,
    /// When the pending occurrence falls due.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_payment: Option<NaiveDate>,
    /// As given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<serde_json::Value>,
    /// In the answer to its creation alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub occurrences: Option<Vec<Occurrence>>,
    /// Its making.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<Timestamp>,
    /// Its last change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modified: Option<Timestamp>,
}

/// Makes a recurring charge; its method is not verified.
#[derive(Debug, Clone, Copy, JsonSchema)]
pub struct CreateRecurring;

impl Endpoint for CreateRecurring {
    const NAME: &'static str = "recurring.create";
    const METHOD: Method = Method::Post;
    const HOST: Host = Host::Base;
    const PATH: &'static str = "/v1/recurring/charges";
    const AUTH: Auth = Auth::SecretKey;
    type Request = NewRecurringCharge;
    type Reply = RecurringCharge;
}

/// Changes payment or schedule.
#[derive(Debug, Clone, Copy, JsonSchema)]
pub struct PatchRecurring;

impl Endpoint for PatchRecurring {
    const NAME: &'static str = "recurring.patch";
    const METHOD: Method = Method::Patch;
    const HOST: Host = Host::Base;
    const PATH: &'static str = "/v1/recurring/charges/{id}";
    const AUTH: Auth = Auth::SecretKey;
    type Request = RecurringChange;
    type Reply = RecurringCharge;
}

/// Reads one; not in the two documents (service-facts, 56).
#[derive(Debug, Clone, Copy, JsonSchema)]
pub struct GetRecurring;

impl Endpoint for GetRecurring {
    const NAME: &'static str = "recurring.get";
    const METHOD: Method = Method::Get;
    const HOST: Host = Host::Base;
    const PATH: &'static str = "/v1/recurring/charges/{id}";
    const AUTH: Auth = Auth::SecretKey;
    type Request = ();
    type Reply = RecurringCharge;
}

const STATUS: Parameter =
    Parameter::new("status", Holds::Text, "`ACTIVE`, `COMPLETED` or `DELETED`");

/// Lists them, newest first; not in the two documents (service-facts, 56).
#[derive(Debug, Clone, Copy, JsonSchema)]
pub struct ListRecurring;

impl Endpoint for ListRecurring {
    const NAME: &'static str = "recurring.list";
    const METHOD: Method = Method::Get;
    const HOST: Host = Host::Base;
    const PATH: &'static str = "/v1/recurring/charges";
    const AUTH: Auth = Auth::SecretKey;
    const QUERY: &'static [Parameter] = &[PAGE, PAGE_SIZE, ACCOUNT, STATUS, REFERENCE, ORDER];
    type Request = ();
    type Reply = Page<RecurringCharge>;
}
