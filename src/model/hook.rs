//! One run of an operator's script on one event: what it read, what it asks for, and what it keeps.
//!
//! Plain data for the journal. The same script, event and answers give the same run, so that a run can be held
//! against a later one.

use std::fmt;

use chrono::{DateTime, Utc};
use data_encoding::BASE32_NOPAD;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::hash::{Digest, canonical, sha256};
use crate::base::id::{Key, Name, NameError};
use crate::model::at_most::AtMost;

/// The verb of a wish that nothing new is done to a resource (the script function `hold`).
pub const SUSPEND: &str = "suspend";
/// The verb of a wish that a resource goes on (the script function `release`).
pub const RESUME: &str = "resume";
/// The verb of a wish that a resource is looked at again at once.
pub const RECONCILE: &str = "reconcile";
/// The verb of a wish that somebody is told something.
pub const NOTIFY: &str = "notify";

/// The field of an action in the journal that holds its sealed words: text as `Vault::open_text` takes it.
pub const SEALED: &str = "$sealed";
/// The field beside it: whether the action's name is made of its content, which is sealed.
pub const NAMED_BY_CONTENT: &str = "$named_by_content";

/// One action that a run asks for. Nothing of it happens before the whole run ended well. `Debug` leaves the fields
/// out: they may hold what a payer wrote.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct Wish {
    /// Its name beneath the event: chosen by the script, or made of what is asked for. One name does one thing, once.
    pub name: Name,
    /// What to do: a row of the register of actions, or one of the words above.
    pub verb: String,
    /// At which merchant; none where the event has none and the script names none, as for a notification.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merchant: Option<Key>,
    /// With what, as the verb takes it. Of `suspend`: `{key, reason, until?}`; of `resume` and `reconcile`: `{key}`;
    /// of `notify`: `{target, body, html?, subject?, to?}`. In the journal, words stand sealed under [`SEALED`].
    pub fields: Value,
    /// Not before then; at once by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<DateTime<Utc>>,
    /// How often at most, of a notification.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<AtMost>,
    /// A digest of the request, where the script chose the name: the same name cannot request anything else. SHA-256,
    /// keyed with the vault's key where words are sealed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Digest>,
}

/// Characters of the digest in a name that is made of content.
const DIGEST_LENGTH: usize = 16;

impl Wish {
    /// The name of what is asked for where the script chose none: the verb, and a digest of everything else. Errors:
    /// the verb cannot begin a name.
    pub fn content_name(
        verb: &str,
        merchant: Option<&Key>,
        fields: &Value,
        at: Option<DateTime<Utc>>,
    ) -> Result<Name, NameError> {
        let content = canonical(&json!([verb, merchant, fields, at]));
        let digest = BASE32_NOPAD.encode(sha256(&content).as_bytes()).to_ascii_lowercase();
        let digest: String = digest.chars().take(DIGEST_LENGTH).collect();
        format!("{verb}-{digest}").parse()
    }

    /// The same with the digest of its content, where its name says nothing of it.
    #[must_use]
    pub fn fixed(self) -> Self {
        let content = (!self.is_named_by_content()).then(|| self.digest());
        Self { content, ..self }
    }

    fn digest(&self) -> Digest {
        let Self { name: _, verb, merchant, fields, at, at_most: _, content: _ } = self;
        sha256(&canonical(&json!([verb, merchant, fields, at])))
    }

    /// Whether another action of the same name asks for the same. Records from before there were digests are compared
    /// by their fields.
    pub fn asks_for(&self, content: Option<Digest>) -> bool {
        content.is_none() || self.content.is_none() || self.content == content
    }

    /// Whether its name is made of its content.
    pub fn is_named_by_content(&self) -> bool {
        if let Some(known) = self.fields.get(NAMED_BY_CONTENT).and_then(Value::as_bool) {
            return known;
        }
        let Self { name, verb, merchant, fields, at, at_most: _, content: _ } = self;
        Self::content_name(verb, merchant.as_ref(), fields, *at).is_ok_and(|made| made == *name)
    }
}

impl fmt::Debug for Wish {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Wish({} {})", self.verb, self.name)
    }
}

/// One read that a run made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Look {
    /// What was read: the name of the function, such as `transaction`.
    pub what: String,
    /// With which arguments.
    pub arguments: Value,
    /// SHA-256 of the answer as canonical JSON.
    pub answer: Digest,
}

/// One run that ended well. `Debug` leaves out what it read and keeps.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The script: the name of its file without `.rhai`.
    pub script: String,
    /// Which of its functions.
    pub function: String,
    /// SHA-256 of the script and of all that it imports.
    pub hash: Digest,
    /// What it asks for, in its order.
    pub wishes: Vec<Wish>,
    /// What it keeps for later runs of the same script, by key.
    pub kept: Vec<(String, Value)>,
    /// What it adds to values that are kept, by key: whole numbers and amounts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<(String, Value)>,
    /// What it read, in its order.
    pub looks: Vec<Look>,
    /// What it told the operator.
    pub log: Vec<String>,
    /// How many operations it took.
    pub operations: u64,
    /// The vault's name of the answers to its reads, in their order; none where all are null, or there are too many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed: Option<String>,
    /// The answers themselves, until they are sealed: they hold names and addresses, and are in no journal.
    #[serde(skip)]
    pub answers: Vec<Value>,
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Run({}: {}, {:?})", self.script, self.function, self.wishes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// S3: a name made of content stands in journals, and stays as it is, byte for byte.
    #[test]
    fn the_name_that_content_gives_never_changes() {
        let merchant = "Merchant/acme".parse().unwrap();
        let fields = json!({"transaction": "t1", "amount": "5.00 USD"});
        let name = Wish::content_name("refund", Some(&merchant), &fields, None).unwrap();
        assert_eq!(name.as_str(), "refund-bocrq33ipfnrcvca");
    }
}
