//! Recurring charges made from an earlier charge, and their cancellation and deletion.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::charge::RecurringCharge;
use crate::api::call::{Auth, Endpoint, Host, Method};
use crate::api::payments::schedule::RecurringSchedule;
use crate::api::rules::AMOUNT_MAX;

/// The request that creates a recurring charge from an earlier charge's method and customer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("required" = ["amount", "schedule"]))]
pub struct NewClone {
    /// Minor units of each occurrence; required.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = AMOUNT_MAX))]
    pub amount: Option<i64>,
    /// Schedule of the payments; required; a start in the past means the next date on or after
    /// today.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("required" = ["interval_unit", "interval_delay", "start"]))]
    pub schedule: Option<RecurringSchedule>,
}

/// Creates a recurring charge from an earlier charge (gateway-api, POST
/// /v1/charges/{chargeId}/schedule).
#[derive(Debug, Clone, Copy, JsonSchema)]
pub struct ScheduleCharge;

impl Endpoint for ScheduleCharge {
    const NAME: &'static str = "charge.schedule";
    const METHOD: Method = Method::Post;
    const HOST: Host = Host::Base;
    const PATH: &'static str = "/v1/charges/{id}/schedule";
    const AUTH: Auth = Auth::SecretKey;
    type Request = NewClone;
    type Reply = RecurringCharge;
}

/// Ends a recurring charge; it stays listed. Not in the two documents (service-facts, 56, 57).
#[derive(Debug, Clone, Copy, JsonSchema)]
pub struct CancelRecurring;

impl Endpoint for CancelRecurring {
    const NAME: &'static str = "recurring.cancel";
    const METHOD: Method = Method::Post;
    const HOST: Host = Host::Base;
    const PATH: &'static str = "/v1/recurring/charges/{id}/cancel";
    const AUTH: Auth = Auth::SecretKey;
    type Request = ();
    type Reply = RecurringCharge;
}

/// Removes a recurring charge from the list. Not in the two documents (service-facts, 56, 57).
#[derive(Debug, Clone, Copy, JsonSchema)]
pub struct DeleteRecurring;

impl Endpoint for DeleteRecurring {
    const NAME: &'static str = "recurring.delete";
    const METHOD: Method = Method::Delete;
    const HOST: Host = Host::Base;
    const PATH: &'static str = "/v1/recurring/charges/{id}";
    const AUTH: Auth = Auth::SecretKey;
    type Request = ();
    type Reply = RecurringCharge;
}
