//! The payments of a recurring charge, as plain data.

use serde::{Deserialize, Serialize};

use crate::model::state::payment::PaymentResult;

/// The newest payment of a resource, and the next one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaymentsView {
    /// The newest try to collect money; `None` until an event reports one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub last: Option<PaymentView>,
    /// Failed tries since the last successful one.
    pub failures: u32,
    /// The date of the next payment, as the service last showed it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub next: Option<String>,
}

/// One try to collect money.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaymentView {
    /// The transaction, or the occurrence.
    pub id: String,
    pub result: PaymentResult,
    /// In minor units.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub amount: Option<i64>,
    /// ISO 4217.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub currency: Option<String>,
    /// The service's code of a failure.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
    /// By the service's clock.
    pub at: String,
}
