//! What a person wants to see of the service itself.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::id::Key;

/// One read, in the name of a merchant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Showing {
    /// Whose credentials are used.
    pub merchant: Key,
    /// The read's name, such as `card.list`.
    pub read: String,
    /// What its path takes, in order.
    pub parameters: Vec<String>,
    /// Its query.
    pub query: Vec<(String, String)>,
    /// Its body, where it takes one.
    pub body: Option<Value>,
}
