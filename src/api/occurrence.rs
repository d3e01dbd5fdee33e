//! The single payments of a recurring charge (gateway-api, Recurring charge occurrence).

use chrono::NaiveDate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::query::{PAGE, PAGE_SIZE, Parameter};
use crate::api::transaction::Transaction;
use crate::api::wire::{self, Timestamp};
use crate::api::{Auth, Endpoint, Host, Method, Page};

wire::words! {
    /// Where an occurrence stands (gateway-api; service-facts, 59).
    OccurrenceStatus {
        /// Waits for its date.
        Pending = "PENDING",
        /// Is being paid.
        Paying = "PAYING",
        /// Paid.
        Paid = "PAID",
        /// The last attempt was declined.
        Failed = "FAILED",
        /// Not collected by itself any more.
        Ignored = "IGNORED",
    }
}

/// One payment of a recurring charge.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Occurrence {
    /// 22 characters.
    pub id: String,
    /// Its recurring charge.
    pub recurring_charge_id: String,
    /// Minor units.
    pub amount: i64,
    /// Where it stands.
    pub status: OccurrenceStatus,
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub due_date: Option<NaiveDate>,
    /// Payments tried.
    pub attempts: i64,
    /// The last of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_attempt: Option<Timestamp>,
    /// Oldest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transactions: Option<Vec<Transaction>>,
    /// Its making.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<Timestamp>,
    /// Its last change.
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

/// Pays early, or tries an ignored or failed one again.
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

/// Takes one out of the automatic collection.
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
