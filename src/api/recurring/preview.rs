//! Preview of a recurring charge (gateway-api, GET /v1/recurring/charges/schedule).

use chrono::NaiveDate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::api::call::endpoints;
use crate::api::payments::schedule::RecurringSchedule;
use crate::api::query::{Parameter, ParameterType};
use crate::api::rules::AMOUNT_MAX;

/// Maximum occurrences in a preview (gateway-api, Limits).
pub const PREVIEW_OCCURRENCES_MAX: u64 = 100;
/// Occurrences in a preview by default.
pub const PREVIEW_OCCURRENCES_DEFAULT: u64 = 10;

/// Input of a preview; sent as the body of a GET.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("required" = ["amount", "schedule"]))]
pub struct PreviewRequest {
    /// Minor units of each occurrence.
    #[schemars(range(min = 1, max = AMOUNT_MAX))]
    pub amount: Option<i64>,
    /// Maximum number of payments.
    #[schemars(range(min = 1))]
    pub max_occurrences: Option<i64>,
    /// Maximum amount to collect, minor units.
    #[schemars(range(min = 1, max = AMOUNT_MAX))]
    pub max_amount: Option<i64>,
    /// Schedule of the payments.
    #[schemars(extend("required" = ["interval_unit", "interval_delay"]))]
    pub schedule: Option<RecurringSchedule>,
}

/// The predicted course of a recurring charge.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Preview {
    /// Minor units of each occurrence.
    pub amount: i64,
    /// Maximum number of payments, as requested.
    pub max_occurrences: Option<i64>,
    /// Maximum amount to collect, as requested, minor units.
    pub max_amount: Option<i64>,
    /// Payments so far: none.
    pub total_occurrences: i64,
    /// Minor units collected so far: none.
    pub total_amount: i64,
    /// Payments to come, where they end.
    pub remaining_occurrences: Option<i64>,
    /// Minor units to come, where they end.
    pub remaining_amount: Option<i64>,
    /// Schedule of the payments.
    pub schedule: Option<RecurringSchedule>,
    /// Date of the first payment.
    pub next_payment: Option<NaiveDate>,
    /// The first payments.
    pub occurrences: Vec<PreviewOccurrence>,
}

/// One payment of a preview.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PreviewOccurrence {
    /// Minor units.
    pub amount: i64,
    /// Date on which the payment is due.
    pub due_date: Option<NaiveDate>,
}

const OCCURRENCES: Parameter = Parameter::new(
    "occurrences",
    ParameterType::Integer(1, PREVIEW_OCCURRENCES_MAX),
    "number of payments shown; 10 by default",
);
const START: Parameter =
    Parameter::new("start_date", ParameterType::Date, "the first date; tomorrow by default");
const WITH_CHARGE: Parameter = Parameter::new(
    "start_date_charge",
    ParameterType::Flag,
    "true: a charge of today starts the schedule; `start_date` is then today or left out",
);

endpoints! {
    /// Shows the predicted course of a recurring charge.
    PreviewSchedule "recurring.preview": Get Base "/v1/recurring/charges/schedule" by SecretKey,
        PreviewRequest => Preview, [OCCURRENCES, START, WITH_CHARGE];
}
