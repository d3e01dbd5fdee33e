//! Digests, marks and canonical JSON: stable identities of effects and values.
//!
//! A [`SourceId`] names one required effect for ever. A [`Mark`] is its short form for fields of
//! the service that hold 28 characters but not a whole name. Both are pure functions of the name,
//! so a lost answer can be settled by searching for them. A [`Digest`] over anything secret or
//! personal is keyed (an open digest of a card number can be guessed).

use std::collections::BTreeMap;
use std::str::FromStr;

use data_encoding::{BASE32_NOPAD, HEXLOWER};
use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use serde_with::{DeserializeFromStr, SerializeDisplay};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq;

use crate::base::id::Key;

pub const MARK_LENGTH: usize = 28;
const MARK_PREFIX: &str = "rk";
const MARK_BYTES: usize = 16;
const HMAC_BLOCK_BYTES: usize = 64;

/// Permanent name of one required effect: `{partner}:{kind}/{namespace}/{name}`, with `;rN` from
/// the N-th replacement on. Invoices carry the whole name (partner-api, Invoice, `source_id`).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[derive(derive_more::Display)]
#[serde(transparent)]
pub struct SourceId(String);

impl SourceId {
    /// Makes the name; `generation` is the manifest's `reckon.dev/generation`, 0 where it has none.
    pub fn new(partner: &str, key: &Key, generation: u32) -> Self {
        match generation {
            0 => Self(format!("{partner}:{key}")),
            _ => Self(format!("{partner}:{key};r{generation}")),
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn mark(&self) -> Mark {
        let Digest(bytes) = sha256(self.0.as_bytes());
        let (head, _) = bytes.split_at(MARK_BYTES);
        Mark(format!("{MARK_PREFIX}{}", BASE32_NOPAD.encode(head).to_ascii_lowercase()))
    }
}

/// Short form of a [`SourceId`]: `rk` and lower-case base32 of the first 128 bits of its SHA-256.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, SerializeDisplay, DeserializeFromStr)]
#[derive(derive_more::Display)]
pub struct Mark(String);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a mark: `rk` and 26 characters of lower-case base32")]
pub struct MarkError(String);

impl Mark {
    pub fn parse(text: &str) -> Option<Self> {
        let code = text.strip_prefix(MARK_PREFIX).filter(|_| text.len() == MARK_LENGTH)?;
        let lower = !code.bytes().any(|b| b.is_ascii_uppercase());
        let bytes = BASE32_NOPAD.decode(code.to_ascii_uppercase().as_bytes()).ok()?;
        (lower && bytes.len() == MARK_BYTES).then(|| Self(text.to_owned()))
    }

    /// Returns the mark at the end of `TEXT [MARK]`; trailing white space is ignored.
    pub fn find_in(text: &str) -> Option<Self> {
        split_tag(text).map(|(_, mark)| mark)
    }

    /// Formats `TEXT [MARK]`, or `[MARK]` where there is no text.
    pub fn tag(&self, text: &str) -> String {
        match text {
            "" => format!("[{}]", self.0),
            _ => format!("{text} [{}]", self.0),
        }
    }

    /// Returns the text without any mark at its end, ours or not.
    pub fn strip_tag(text: &str) -> String {
        split_tag(text).map_or(text, |(before, _)| before).to_owned()
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn split_tag(text: &str) -> Option<(&str, Mark)> {
    let inner = text.trim_end().strip_suffix(']')?;
    let (before, code) = inner.rsplit_once('[')?;
    let mark = Mark::parse(code)?;
    match before {
        "" => Some(("", mark)),
        _ => before.strip_suffix(' ').map(|before| (before, mark)),
    }
}

impl FromStr for Mark {
    type Err = MarkError;

    fn from_str(text: &str) -> Result<Self, MarkError> {
        Self::parse(text).ok_or_else(|| MarkError(text.to_owned()))
    }
}

/// 256-bit digest; 64 characters of lower-case hex in text and JSON.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, SerializeDisplay, DeserializeFromStr)]
#[derive(derive_more::Display, derive_more::Debug)]
#[display("{}", HEXLOWER.encode(_0))]
#[debug("Digest({})", self.short())]
pub struct Digest([u8; 32]);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a digest: 64 characters of lower-case hex")]
pub struct DigestError(String);

impl Digest {
    /// All bits zero: the predecessor of the first record of a chain.
    pub const ZERO: Self = Self([0; 32]);

    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Returns the first 12 characters, for people.
    pub fn short(&self) -> String {
        HEXLOWER.encode(self.0.split_at(6).0)
    }

    /// Compares in constant time, for digests that authenticate (a signed link, a webhook token).
    pub fn matches(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl FromStr for Digest {
    type Err = DigestError;

    fn from_str(text: &str) -> Result<Self, DigestError> {
        let wrong = || DigestError(text.to_owned());
        let bytes = HEXLOWER.decode(text.as_bytes()).map_err(|_| wrong())?;
        bytes.try_into().map(Self).map_err(|_| wrong())
    }
}

/// Returns the SHA-256 of open data. For anything secret or personal use [`keyed_digest`].
pub fn sha256(data: &[u8]) -> Digest {
    Digest(Sha256::digest(data).into())
}

/// Returns the HMAC-SHA-256 of `label` and `data`. The label names the digest's purpose. No pair of
/// label and data collides with another (the label's length is included).
pub fn keyed_digest(key: &[u8; 32], label: &str, data: &[u8]) -> Digest {
    let mut block = [0_u8; HMAC_BLOCK_BYTES];
    for (slot, byte) in block.iter_mut().zip(key) {
        *slot = *byte;
    }
    let mut mac = Hmac::<Sha256>::new(&block.into());
    mac.update(&u64::try_from(label.len()).unwrap_or(u64::MAX).to_be_bytes());
    mac.update(label.as_bytes());
    mac.update(data);
    Digest(mac.finalize().into_bytes().into())
}

/// Returns canonical JSON: keys in the order of their bytes, no white space, numbers as they were
/// read. Equal values give equal bytes whatever the order of their keys was.
pub fn canonical(value: &Value) -> Vec<u8> {
    // Writing JSON into memory cannot fail.
    serde_json::to_vec(&Canonical(value)).unwrap_or_default()
}

/// Returns canonical JSON of an object with these fields.
pub fn canonical_object<'a>(fields: impl IntoIterator<Item = (&'a str, &'a Value)>) -> Vec<u8> {
    serde_json::to_vec(&sorted(fields)).unwrap_or_default()
}

struct Canonical<'a>(&'a Value);

fn sorted<'a>(
    fields: impl IntoIterator<Item = (&'a str, &'a Value)>,
) -> BTreeMap<&'a str, Canonical<'a>> {
    fields.into_iter().map(|(key, value)| (key, Canonical(value))).collect()
}

impl Serialize for Canonical<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Object(fields) => {
                sorted(fields.iter().map(|(key, value)| (key.as_str(), value)))
                    .serialize(serializer)
            }
            Value::Array(items) => serializer.collect_seq(items.iter().map(Canonical)),
            leaf @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => {
                leaf.serialize(serializer)
            }
        }
    }
}

#[cfg(test)]
mod tests;
