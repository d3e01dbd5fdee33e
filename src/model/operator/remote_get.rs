//! A person's request for a read of the service itself.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::id::Key;

/// One read, with a merchant's credentials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RemoteGet {
    /// The merchant whose credentials are used.
    pub merchant: Key,
    /// The read's name, such as `card.list`.
    pub read: String,
    /// The parameters of the path, in order.
    pub parameters: Vec<String>,
    pub query: Vec<(String, String)>,
    /// The body, where the read has one.
    pub body: Option<Value>,
}
