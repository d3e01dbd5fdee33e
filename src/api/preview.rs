//! What a recurring charge would do (gateway-api, GET /v1/recurring/charges/schedule).

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use crate::api::recurring::Schedule;
use crate::api::{Auth, Endpoint, Host, Method};

/// Occurrences that a preview shows at most (gateway-api, Limits).
pub const PREVIEW_OCCURRENCES_MAX: u64 = 100;
/// Occurrences that a preview shows by default.
pub const PREVIEW_OCCURRENCES_DEFAULT: u64 = 10;

/// What a preview reckons with; sent as the body of a GET.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PreviewRequest {
    /// Minor units of each occurrence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount: Option<i64>,
    /// A limit of payments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_occurrences: Option<i64>,
    /// A limit of money, minor units.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_amount: Option<i64>,
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Schedule>,
}

/// What a recurring charge would do.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Preview {
    /// Minor units of each occurrence.
    pub amount: i64,
    /// As asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_occurrences: Option<i64>,
    /// As asked, minor units.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_amount: Option<i64>,
    /// Nothing collected yet.
    pub total_occurrences: i64,
    /// Nothing collected yet.
    pub total_amount: i64,
    /// Payments to come, where they end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remaining_occurrences: Option<i64>,
    /// Minor units to come, where they end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remaining_amount: Option<i64>,
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Schedule>,
    /// The first date.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_payment: Option<NaiveDate>,
    /// The first of them.
    pub occurrences: Vec<PreviewOccurrence>,
}

/// One payment of a preview.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PreviewOccurrence {
    /// Minor units.
    pub amount: i64,
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub due_date: Option<NaiveDate>,
}

/// Shows what a recurring charge would do.
#[derive(Debug, Clone, Copy)]
pub struct PreviewSchedule;

impl Endpoint for PreviewSchedule {
    const NAME: &'static str = "recurring.preview";
    const METHOD: Method = Method::Get;
    const HOST: Host = Host::Base;
    const PATH: &'static str = "/v1/recurring/charges/schedule";
    const AUTH: Auth = Auth::SecretKey;
    type Request = PreviewRequest;
    type Reply = Preview;
}
