//! Requests without a document: changes of the service (actions) that a person's command or a hook
//! requests, and reads that a person requests.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::id::{Key, Kind, Name};

/// Kind of the keys of actions in the journal. No document is of this kind.
pub const ACTION: &str = "Action";

/// One requested change. Its name is its identity, for ever: the same name never does a second
/// thing. `Debug` leaves the fields out: a signature is a secret.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct Action {
    /// The action's row in the register, such as `refund`.
    pub verb: String,
    pub merchant: Key,
    /// The action's name; derived from its content by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
    /// Arguments, as the verb requires them.
    pub fields: Value,
}

impl fmt::Debug for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Action({} at {})", self.verb, self.merchant)
    }
}

impl Action {
    /// Returns the key of an action of this name; it has the namespace of its merchant.
    pub fn key(merchant: &Key, name: &Name) -> Key {
        Key::new(Kind::new(ACTION), &merchant.namespace, name)
    }
}

/// Returns whether a key is an action's.
pub fn is_action(key: &Key) -> bool {
    key.kind.as_str() == ACTION
}

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
