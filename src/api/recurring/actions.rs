//! Recurring charges made from an earlier charge, and their cancellation and deletion.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::charge::RecurringCharge;
use crate::api::call::endpoints;
use crate::api::payments::schedule::RecurringSchedule;
use crate::api::rules::AMOUNT_MAX;

/// The request that creates a recurring charge from an earlier charge's method and customer.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("required" = ["amount", "schedule"]))]
pub struct NewClone {
    /// Minor units of each occurrence; required.
    #[schemars(range(min = 1, max = AMOUNT_MAX))]
    pub amount: Option<i64>,
    /// Schedule of the payments; required; a start in the past means the next date on or after
    /// today.
    #[schemars(extend("required" = ["interval_unit", "interval_delay", "start"]))]
    pub schedule: Option<RecurringSchedule>,
}

endpoints! {
    /// Creates a recurring charge from an earlier charge (gateway-api, POST
    /// /v1/charges/{chargeId}/schedule).
    ScheduleCharge "charge.schedule": Post Base "/v1/charges/{id}/schedule" by SecretKey,
        NewClone => RecurringCharge;
    /// Ends a recurring charge; it stays listed. Not in the two documents (service-facts, 56, 57).
    CancelRecurring "recurring.cancel": Post Base "/v1/recurring/charges/{id}/cancel" by SecretKey,
        () => RecurringCharge;
    /// Removes a recurring charge from the list. Not in the two documents (service-facts, 56, 57).
    DeleteRecurring "recurring.delete": Delete Base "/v1/recurring/charges/{id}" by SecretKey,
        () => RecurringCharge;
}
