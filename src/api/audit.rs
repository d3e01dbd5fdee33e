//! Origin of an object's creation or change (partner-api, Contact, audit object).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::api::wire::Timestamp;

/// One side of an object's history: its creation or its last change.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Audit {
    /// The user who did it; the literal `SERVER` for the service itself.
    pub user: Option<String>,
    /// Time of the change.
    pub timestamp: Option<Timestamp>,
    /// The application through which it was done.
    pub client_id: Option<String>,
    /// Address from which it was done.
    pub client_inet_address: Option<String>,
    /// Country from which it was done.
    pub client_country_code: Option<String>,
    /// Place from which it was done.
    pub client_location: Option<String>,
    /// The payer's address, where relayed.
    pub caller_inet_address: Option<String>,
    /// The payer's country.
    pub caller_country_code: Option<String>,
    /// The payer's place.
    pub caller_location: Option<String>,
}
