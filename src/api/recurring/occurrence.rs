//! The single payments of a recurring charge (gateway-api, Recurring charge occurrence).

use chrono::NaiveDate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::api::call::endpoints;
use crate::api::payments::transaction::Transaction;
use crate::api::query::{PAGE, PAGE_SIZE, Page};
use crate::api::wire;
use crate::api::wire::Timestamp;

wire::words! {
    /// Status of an occurrence (gateway-api; service-facts, 59).
    OccurrenceStatus {
        /// Waiting for its date.
        Pending = "PENDING",
        /// Being paid.
        Paying = "PAYING",
        /// Paid.
        Paid = "PAID",
        /// The last attempt was declined.
        Failed = "FAILED",
        /// Excluded from automatic collection.
        Ignored = "IGNORED",
    }
}

/// One payment of a recurring charge.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Occurrence {
    /// 22 characters.
    pub id: String,
    /// Id of its recurring charge.
    pub recurring_charge_id: String,
    /// Minor units.
    pub amount: i64,
    /// Status of the occurrence.
    pub status: OccurrenceStatus,
    /// Date on which the payment is due.
    pub due_date: Option<NaiveDate>,
    /// Number of attempted payments.
    pub attempts: i64,
    /// Time of the last attempt.
    pub last_attempt: Option<Timestamp>,
    /// Transactions of the attempts, oldest first.
    pub transactions: Option<Vec<Transaction>>,
    /// Creation of the occurrence.
    pub created: Option<Timestamp>,
    /// Last change of the occurrence.
    pub modified: Option<Timestamp>,
}

endpoints! {
    /// Lists occurrences, newest first.
    ListOccurrences "occurrence.list":
        Get Base "/v1/recurring/charges/{id}/occurrences" by SecretKey,
        () => Page<Occurrence>, [PAGE, PAGE_SIZE];
    /// Reads an occurrence with its transactions.
    GetOccurrence "occurrence.get":
        Get Base "/v1/recurring/charges/{id}/occurrences/{occurrence}" by SecretKey,
        () => Occurrence;
    /// Pays an occurrence early, or retries an ignored or failed one.
    PayOccurrence "occurrence.pay":
        Post Base "/v1/recurring/charges/{id}/occurrences/{occurrence}/pay" by SecretKey,
        () => Occurrence;
    /// Excludes an occurrence from automatic collection.
    IgnoreOccurrence "occurrence.ignore":
        Post Base "/v1/recurring/charges/{id}/occurrences/{occurrence}/ignore" by SecretKey,
        () => Occurrence;
}
