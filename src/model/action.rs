//! What a person's command, or a hook, may ask for: one change of the service that no document stands for.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::id::{Key, Kind, Name};

/// The kind of the keys that actions have in the journal. No document is of this kind.
pub const ACTION: &str = "Action";

/// One change that is asked for. Its name is its identity, for ever: the same name never does a second thing.
/// `Debug` leaves the fields out: a signature is a secret.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct Action {
    /// What to do: a row of the register, such as `refund`.
    pub verb: String,
    /// At which merchant.
    pub merchant: Key,
    /// Its name; one made of its content by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
    /// With what, as the verb takes it.
    pub fields: Value,
}

impl fmt::Debug for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Action({} at {})", self.verb, self.merchant)
    }
}

impl Action {
    /// The key of an action of this name, beside its merchant.
    pub fn key(merchant: &Key, name: &Name) -> Key {
        Key::new(Kind::new(ACTION), &merchant.namespace, name)
    }
}

/// Whether a key is that of an action.
pub fn is_action(key: &Key) -> bool {
    key.kind.as_str() == ACTION
}
