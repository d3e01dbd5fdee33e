//! Who made or changed an object (partner-api, Contact, audit object).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::wire::Timestamp;

/// One side of an object's history: its making or its last change.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Audit {
    /// Who; the literal `SERVER` for the service itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Timestamp>,
    /// Through which application.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// From which address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_inet_address: Option<String>,
    /// From which country.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_country_code: Option<String>,
    /// From which place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_location: Option<String>,
    /// The payer's address, where relayed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caller_inet_address: Option<String>,
    /// The payer's country.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caller_country_code: Option<String>,
    /// The payer's place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caller_location: Option<String>,
}
