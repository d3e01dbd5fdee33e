//! Recurring charges and their occurrences (gateway-api, Recurring charge).

use chrono::NaiveDate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::occurrence::Occurrence;
use crate::api::call::{Auth, Endpoint, Host, Method};
use crate::api::methods::method::PaymentMethod;
use crate::api::methods::method_ref::MethodRef;
use crate::api::payments::schedule::RecurringSchedule;
use crate::api::query::{
    ACCOUNT, ORDER, PAGE, PAGE_SIZE, Page, Parameter, ParameterType, REFERENCE,
};
use crate::api::rules::AMOUNT_MAX;
use crate::api::wire;
use crate::api::wire::Timestamp;

wire::words! {
    /// Status of a recurring charge (service-facts, 57).
    RecurringStatus {
        /// Still collecting.
        Active = "ACTIVE",
        /// Reached its end, or was cancelled.
        Completed = "COMPLETED",
        /// Removed.
        Deleted = "DELETED",
    }
}

/// The request that creates a recurring charge.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("required" = ["amount", "method", "schedule"]))]
pub struct NewRecurringCharge {
    /// A free text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Reference for each charge; a server may ignore it (service-facts, 64).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// Id of the account; the primary account of the method's type by default.
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
    /// Schedule of the payments; required; may not start today.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("required" = ["interval_unit", "interval_delay", "start"]))]
    pub schedule: Option<RecurringSchedule>,
    /// Number of scheduled payments until the recurring charge is complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_occurrences: Option<i64>,
    /// Minor units to collect until the recurring charge is complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = AMOUNT_MAX))]
    pub max_amount: Option<i64>,
    /// Any object; copied to the recurring charge's charges (service-facts, 33).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub data: Option<serde_json::Value>,
}

/// The fields that a PATCH changes; absent fields stay.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RecurringChange {
    /// A free text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Reference for later charges.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// Id of the account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account_id: Option<String>,
    /// Minor units of each occurrence, including the pending one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = AMOUNT_MAX))]
    pub amount: Option<i64>,
    /// A token's id for sensitive data; `type` and the changed fields for the rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<MethodRef>,
    /// New schedule; moves the pending occurrence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<RecurringSchedule>,
    /// Number of scheduled payments until the recurring charge is complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_occurrences: Option<i64>,
    /// Minor units to collect until the recurring charge is complete.
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
    /// Status of the recurring charge.
    pub status: RecurringStatus,
    /// `schedule_complete` or `user_canceled`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status_reason: Option<String>,
    /// Id of the account.
    pub account_id: String,
    /// Payment method, masked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<PaymentMethod>,
    /// Schedule of the payments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<RecurringSchedule>,
    /// A free text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Reference for each charge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// Minor units of each occurrence.
    pub amount: i64,
    /// Three letters.
    pub currency: String,
    /// Maximum number of payments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_occurrences: Option<i64>,
    /// Maximum amount to collect, minor units.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_amount: Option<i64>,
    /// Number of payments attempted so far.
    pub total_occurrences: i64,
    /// Minor units collected so far.
    pub total_amount: i64,
    /// Payments to come; in previews.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remaining_occurrences: Option<i64>,
    /// Minor units to come; in previews.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remaining_amount: Option<i64>,
    /// Due date of the pending occurrence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_payment: Option<NaiveDate>,
    /// Additional data, as given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<serde_json::Value>,
    /// Occurrences; in the answer to a creation alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub occurrences: Option<Vec<Occurrence>>,
    /// Creation of the recurring charge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<Timestamp>,
    /// Last change of the recurring charge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modified: Option<Timestamp>,
}

/// Creates a recurring charge; its method is not verified.
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

/// Reads a recurring charge; not in the two documents (service-facts, 56).
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
    Parameter::new("status", ParameterType::Text, "`ACTIVE`, `COMPLETED` or `DELETED`");

/// Lists recurring charges, newest first; not in the two documents (service-facts, 56).
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
