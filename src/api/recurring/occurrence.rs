//! The single payments of a recurring charge (gateway-api, Recurring charge occurrence).

use chrono::NaiveDate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::call::{Auth, Endpoint, Host, Method};
use crate::api::payments::transaction::Transaction;
use crate::api::query::{PAGE, PAGE_SIZE, Page, Parameter};
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub due_date: Option<NaiveDate>,
    /// Number of attempted payments.
    pub attempts: i64,
    /// Time of the last attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_attempt: Option<Timestamp>,
    /// Transactions of the attempts, oldest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transactions: Option<Vec<Transaction>>,
    /// Creation of the occurrence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<Timestamp>,
    /// Last change of the occurrence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modified: Option<Timestamp>,
}

/// Lists occurrences, newest first.
#[derive(Debug, Clone, Copy, JsonSchema)]
pub struct ListOccurrences;

impl Endpoint for ListOccurrences {
    const NAME: &'static str = "occurrence.list";
    const METHOD: Method = Method::Get;
    const HOST: Host = Host::Base;
    const PATH: &'static str = "/v1/recurring/charges/{id}/occurrences";
    const AUTH: Auth = Auth::SecretKey;
    const QUERY: &'static [Parameter] = &[PAGE, PAGE_SIZE];
    type Request = ();
    type Reply = Page<Occurrence>;
}

/// Reads an occurrence with its transactions.
#[derive(Debug, Clone, Copy, JsonSchema)]
pub struct GetOccurrence;

impl Endpoint for GetOccurrence {
    const NAME: &'static str = "occurrence.get";
    const METHOD: Method = Method::Get;
    const HOST: Host = Host::Base;
    const PATH: &'static str = "/v1/recurring/charges/{id}/occurrences/{occurrence}";
    const AUTH: Auth = Auth::SecretKey;
    type Request = ();
    type Reply = Occurrence;
}

/// Pays an occurrence early, or retries an ignored or failed one.
#[derive(Debug, Clone, Copy, JsonSchema)]
pub struct PayOccurrence;

impl Endpoint for PayOccurrence {
    const NAME: &'static str = "occurrence.pay";
    const METHOD: Method = Method::Post;
    const HOST: Host = Host::Base;
    const PATH: &'static str = "/v1/recurring/charges/{id}/occurrences/{occurrence}/pay";
    const AUTH: Auth = Auth::SecretKey;
    type Request = ();
    type Reply = Occurrence;
}

/// Excludes an occurrence from automatic collection.
#[derive(Debug, Clone, Copy, JsonSchema)]
pub struct IgnoreOccurrence;

impl Endpoint for IgnoreOccurrence {
    const NAME: &'static str = "occurrence.ignore";
    const METHOD: Method = Method::Post;
    const HOST: Host = Host::Base;
    const PATH: &'static str = "/v1/recurring/charges/{id}/occurrences/{occurrence}/ignore";
    const AUTH: Auth = Auth::SecretKey;
    type Request = ();
    type Reply = Occurrence;
}
