//! The portal link that the partner hands to a payer itself (partner-api, POST /invoices: the
//! contact hash).
//!
//! The documents mention that a contact hash gives a `url`, to be sent only after the invoice
//! exists, and do not show the endpoint. Its path and form here are our own choice
//! (docs/design/assumptions.md); the documents win.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::call::endpoints;
use crate::api::wire::serialize_exposed;
use crate::base::secret::Secret;

/// A contact hash: anyone with its link sees the contact's open payments.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ContactHash {
    /// Address of the payer's page.
    #[serde(serialize_with = "serialize_exposed")]
    pub url: Option<Secret>,
}

endpoints! {
    /// Creates a contact hash. It sends nothing.
    CreateContactHash "contact.hash": Post Base "/contacts/{contact_id}/hash" by Payments,
        () => ContactHash;
}
