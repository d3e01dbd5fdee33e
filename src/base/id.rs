//! Names and ids: kinds, keys, the service's ids, our own sequence numbers.
//!
//! Two strings with different meanings are two types here, which the compiler distinguishes. Every
//! type checks its text where the text enters the program (parse or deserialise) and never again.
//! None of these types is secret: all of them may be printed.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::str::FromStr;
use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Serialize};
use serde_with::{DeserializeFromStr, SerializeDisplay};

mod number;
mod shared;

use shared::SharedValues;

pub use number::{IntentId, Mode, NumberError};

/// Longest accepted [`Name`], in characters.
pub const NAME_LENGTH_MAX: usize = 63;
/// Longest accepted id of the service, in characters; real ones have 22 to 40 (service-facts, 18).
pub const REMOTE_ID_LENGTH_MAX: usize = 128;

/// Manifest kind as written in YAML, such as `Invoice`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[derive(derive_more::Display)]
#[serde(transparent)]
pub struct Kind(Arc<str>);

impl Kind {
    /// Wraps the word unchecked; the register of kinds decides whether such a kind exists.
    pub fn new(text: &str) -> Self {
        Self(Arc::from(text))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Reasons why a text is no [`Name`]; the message contains the text to write instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    #[error("a name is empty; write lowercase letters, digits, `-` or `.`, such as `{example}`", example = NAME_EXAMPLE)]
    Empty,
    /// More than [`NAME_LENGTH_MAX`] characters.
    #[error("the name has {length} characters; write at most {max}", max = NAME_LENGTH_MAX)]
    TooLong { length: usize },
    /// A character outside lowercase letters, digits, `-` and `.`.
    #[error(
        "the name `{name}` holds `{found}`; write lowercase letters, digits, `-` or `.`, such as `{suggestion}`"
    )]
    Character {
        name: String,
        /// The first character that is not allowed.
        found: char,
        /// The text with every such character replaced.
        suggestion: String,
    },
    /// Starts or ends with `-` or `.`.
    #[error("the name `{name}` starts or ends with `-` or `.`; write `{suggestion}`")]
    Edge {
        name: String,
        /// The text without these characters at its ends.
        suggestion: String,
    },
}

const NAME_EXAMPLE: &str = "jane-2026-11";

/// Checked text of `metadata.name` or `metadata.namespace`: 1 to 63 lowercase letters, digits, `-`
/// and `.`, first and last alphanumeric.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, SerializeDisplay, DeserializeFromStr)]
#[derive(derive_more::Display)]
pub struct Name(Arc<str>);

/// Namespace of documents without one; see [`Name::default_namespace`].
const DEFAULT_NAMESPACE: &str = "default";

impl Name {
    pub fn default_namespace() -> Self {
        static SHARED: LazyLock<Name> = LazyLock::new(|| Name(Arc::from(DEFAULT_NAMESPACE)));
        SHARED.clone()
    }

    /// Returns whether this is the namespace of documents without one.
    pub fn is_default_namespace(&self) -> bool {
        &*self.0 == DEFAULT_NAMESPACE
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the first 16 bytes as a number. A name with a smaller one is smaller: no name holds a
    /// zero byte.
    fn start(&self) -> u128 {
        let mut start = [0; 16];
        start.iter_mut().zip(self.0.bytes()).for_each(|(slot, byte)| *slot = byte);
        u128::from_be_bytes(start)
    }
}

impl FromStr for Name {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        check_name(text)?;
        Ok(if text == DEFAULT_NAMESPACE {
            Self::default_namespace()
        } else {
            Self(Arc::from(text))
        })
    }
}

fn check_name(text: &str) -> Result<(), NameError> {
    let length = text.chars().count();
    if length == 0 {
        return Err(NameError::Empty);
    }
    if length > NAME_LENGTH_MAX {
        return Err(NameError::TooLong { length });
    }
    if let Some(found) = text.chars().find(|&c| !is_name_character(c)) {
        return Err(NameError::Character {
            name: text.to_owned(),
            found,
            suggestion: suggest_name(text),
        });
    }
    if text.starts_with(['-', '.']) || text.ends_with(['-', '.']) {
        return Err(NameError::Edge { name: text.to_owned(), suggestion: suggest_name(text) });
    }
    Ok(())
}

fn is_name_character(c: char) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '.'
}

/// Returns the nearest allowed text, or an example where no character is usable.
fn suggest_name(text: &str) -> String {
    let lower = text.to_lowercase();
    let kept: String = lower.chars().map(|c| if is_name_character(c) { c } else { '-' }).collect();
    let trimmed = kept.trim_matches(['-', '.']);
    if trimmed.is_empty() { NAME_EXAMPLE.to_owned() } else { trimmed.to_owned() }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// Not two or three parts, or a kind that is no word.
    #[error("`{text}` names no resource; write `Kind/name` or `Kind/namespace/name`")]
    Shape { text: String },
    #[error(transparent)]
    Name(#[from] NameError),
}

/// Identity of one manifest: kind, namespace and name. Written `Kind/namespace/name`.
///
/// Many maps hold the same key, each a hundred thousand of them. Equal keys are one allocation,
/// also of different origin, so keys are equal exactly if they point to the same one.
#[derive(Clone, SerializeDisplay, DeserializeFromStr, derive_more::Display)]
#[display("{}/{}/{}", _0.parts.kind, _0.parts.namespace, _0.parts.name)]
pub struct Key(Arc<SharedKey>);

/// The parts of a key, and the beginning of its name as a number: most comparisons look no further.
#[derive(Debug)]
struct SharedKey {
    parts: KeyParts,
    name_start: u128,
}

static KEYS: LazyLock<SharedValues<SharedKey>> = LazyLock::new(SharedValues::default);
/// The kinds and the namespaces of keys in use.
static WORDS: LazyLock<SharedValues<str>> = LazyLock::new(SharedValues::default);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyParts {
    pub kind: Kind,
    pub namespace: Name,
    pub name: Name,
}

impl KeyParts {
    fn texts(&self) -> [&str; 3] {
        [&self.kind.0, &self.namespace.0, &self.name.0]
    }

    /// Shares the texts that many keys have.
    fn with_shared_words(self) -> Self {
        let share = |text: Arc<str>| WORDS.share(&&*text, |word| *word == *text, || text.clone());
        let namespace = if self.namespace.is_default_namespace() {
            Name::default_namespace()
        } else {
            Name(share(self.namespace.0))
        };
        Self { kind: Kind(share(self.kind.0)), namespace, name: self.name }
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Key {}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).hash(state);
    }
}

/// Orders keys by their texts: kind, namespace, name.
impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        if self == other {
            return Ordering::Equal;
        }
        let compare = |one: &Arc<str>, other: &Arc<str>| {
            if Arc::ptr_eq(one, other) { Ordering::Equal } else { one.cmp(other) }
        };
        compare(&self.kind.0, &other.kind.0)
            .then_with(|| compare(&self.namespace.0, &other.namespace.0))
            .then_with(|| self.0.name_start.cmp(&other.0.name_start))
            .then_with(|| self.name.cmp(&other.name))
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.parts.fmt(f)
    }
}

impl Deref for Key {
    type Target = KeyParts;

    fn deref(&self) -> &KeyParts {
        &self.0.parts
    }
}

impl From<KeyParts> for Key {
    fn from(parts: KeyParts) -> Self {
        let texts = parts.texts();
        let make = || {
            let parts = parts.clone().with_shared_words();
            Arc::new(SharedKey { name_start: parts.name.start(), parts })
        };
        Self(KEYS.share(&texts, |known| known.parts.texts() == texts, make))
    }
}

impl Key {
    pub fn new(kind: Kind, namespace: &Name, name: &Name) -> Self {
        Self::from(KeyParts { kind, namespace: namespace.clone(), name: name.clone() })
    }

    /// Returns `Kind/name` in the default namespace, else the key; [`Key::from_str`] reads both.
    pub fn short(&self) -> String {
        if self.namespace.is_default_namespace() {
            format!("{}/{}", self.kind, self.name)
        } else {
            self.to_string()
        }
    }
}

impl FromStr for Key {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let shape = || KeyError::Shape { text: text.to_owned() };
        let (kind, rest) = text.split_once('/').ok_or_else(shape)?;
        if kind.is_empty() || !kind.chars().all(|c| c.is_ascii_alphanumeric()) || rest.is_empty() {
            return Err(shape());
        }
        let (namespace, name) = match rest.split_once('/') {
            Some((_, name)) if name.contains('/') => return Err(shape()),
            Some((namespace, name)) => (namespace, name),
            None => (DEFAULT_NAMESPACE, rest),
        };
        let texts = [kind, namespace, name];
        // The names of a known key were checked.
        if let Some(known) = KEYS.find(&texts, |known| known.parts.texts() == texts) {
            return Ok(Self(known));
        }
        Ok(Self::new(Kind::new(kind), &namespace.parse()?, &name.parse()?))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    #[error("the {what} is empty")]
    Empty { what: &'static str },
    /// More than [`REMOTE_ID_LENGTH_MAX`] characters.
    #[error("the {what} has {length} characters, more than {max}", max = REMOTE_ID_LENGTH_MAX)]
    TooLong { what: &'static str, length: usize },
}

fn check_id(text: &str, what: &'static str) -> Result<(), IdError> {
    match text.chars().count() {
        0 => Err(IdError::Empty { what }),
        length if length > REMOTE_ID_LENGTH_MAX => Err(IdError::TooLong { what, length }),
        _ => Ok(()),
    }
}

/// Defines an opaque id of the service: not empty, at most [`REMOTE_ID_LENGTH_MAX`] characters.
macro_rules! string_id {
    ($(#[$doc:meta])* $type:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, SerializeDisplay, DeserializeFromStr)]
        #[derive(derive_more::Display)]
        pub struct $type(Arc<str>);

        impl $type {
            /// Checks the text.
            ///
            /// # Errors
            /// The text is empty, or longer than [`REMOTE_ID_LENGTH_MAX`].
            pub fn new(text: &str) -> Result<Self, IdError> {
                check_id(text, $what)?;
                Ok(Self(Arc::from(text)))
            }

            /// Returns the text as the service gave it.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $type {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                Self::new(text)
            }
        }
    };
}

string_id!(
    /// An id that the service gave: of a contact, invoice, card, transaction, event …
    RemoteId,
    "id"
);
string_id!(
    /// An account's public key; its form is not checked (service-facts, part 12).
    PublicKey,
    "public key"
);

#[cfg(test)]
mod tests;
