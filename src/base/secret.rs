//! Values that must not show, and sealed texts, which may be kept in a file and open in one place.
//!
//! A secret has no `Display`, no `Serialize` and a `Debug` that prints stars. So showing one takes
//! the word `expose`, which is easy to search for. Memory is wiped when a secret is dropped.
//!
//! The form of a sealed text is age's, with armor (age-encryption.org/v1), to the public keys of
//! X25519 identities. The plain text is `{"for": PLACE, "value": TEXT}`: a text that was moved to
//! another document does not open there, although the key fits. No message here repeats a value, a
//! key or the place that a text was sealed for.

use std::borrow::Cow;
use std::fmt;
use std::io::{Read, Write};

use age::armor::{ArmoredReader, ArmoredWriter, Format};
use age::x25519;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

pub use crate::base::masking::{is_number, mask_digits, masked};

/// Implements the making, the starred form and the constant-time equality of a secret.
macro_rules! secret {
    ($type:ident of $content:ty) => {
        impl From<$content> for $type {
            fn from(content: $content) -> Self {
                Self(Zeroizing::new(content))
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(concat!(stringify!($type), "(***)"))
            }
        }

        impl PartialEq for $type {
            fn eq(&self, other: &Self) -> bool {
                let bytes: &[u8] = self.0.as_ref();
                bytes.ct_eq(other.0.as_ref()).into()
            }
        }

        impl Eq for $type {}
    };
}

secret!(Secret of String);
secret!(SecretBytes of Vec<u8>);

/// A key, token, authorization code, card or account number. Equality takes constant time.
#[derive(Clone)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Returns the text itself; the caller keeps it out of logs, errors and answers.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

impl JsonSchema for Secret {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Secret".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "format": "password"})
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}

/// Secret bytes: a raw key, a sealed body's plain form. Equality takes constant time.
#[derive(Clone)]
pub struct SecretBytes(Zeroizing<Vec<u8>>);

impl SecretBytes {
    /// Returns the bytes themselves; the caller keeps them out of logs, errors and answers.
    pub fn expose(&self) -> &[u8] {
        &self.0
    }
}

/// A name, address, e-mail or telephone number: masked in plans, reports and status.
#[derive(Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[derive(derive_more::Debug, derive_more::Display, derive_more::From)]
#[debug("Personal({})", self.mask())]
#[display("{}", self.mask())]
#[from(String, &str)]
#[serde(transparent)]
pub struct Personal(String);

impl Personal {
    /// Returns the text itself, for the service and for the payer's own pages.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Returns the first character and `•••`; an empty text stays empty.
    pub fn mask(&self) -> String {
        self.0.chars().next().map(|first| format!("{first}•••")).unwrap_or_default()
    }
}

const BEGIN: &str = "-----BEGIN AGE ENCRYPTED FILE-----";
const END: &str = "-----END AGE ENCRYPTED FILE-----";
/// Header of the bytes of a sealed text.
const VERSION: &[u8] = b"age-encryption.org/v1\n";
/// Maximum length of a sealed text: one secret, its place, and the keys that it is for.
const SEALED_BYTES_MAX: usize = 256 * 1024;
const PLAIN_BYTES_MAX: u64 = 192 * 1024;

/// Reasons why a text could not be sealed or opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    #[error("the identity file holds no line that begins with AGE-SECRET-KEY-1")]
    NoIdentity,
    #[error("line {0} of the identity file is not an X25519 identity (AGE-SECRET-KEY-1…)")]
    NotAnIdentity(usize),
    #[error("the sealed text is damaged, or was not made by `reckon seal`")]
    Damaged,
    #[error("the text was sealed for another identity")]
    AnotherIdentity,
    #[error("the text was sealed for another place: run `reckon seal` for this one")]
    AnotherPlace,
    #[error("the text could not be sealed")]
    SealingFailed,
}

/// The plain text, for sealing.
#[derive(Serialize)]
struct SealedContentRef<'a> {
    r#for: &'a str,
    value: &'a str,
}

/// The plain text, after opening.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SealedContent {
    r#for: String,
    value: Secret,
}

/// The identities that open sealed texts; texts are sealed for their public keys.
#[derive(derive_more::Debug)]
#[debug("Keyring({})", _0.len())]
pub struct Keyring(Vec<x25519::Identity>);

impl Keyring {
    /// Reads an identity file: one `AGE-SECRET-KEY-1…` a line, comments begin with `#`.
    ///
    /// # Errors
    /// A line is no identity, or the file holds none.
    pub fn read(text: &str) -> Result<Self, SealError> {
        let lines = text.lines().enumerate().map(|(at, line)| (at.saturating_add(1), line.trim()));
        let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let read =
            |(at, line): (usize, &str)| line.parse().map_err(|_| SealError::NotAnIdentity(at));
        let identities: Vec<x25519::Identity> = lines.map(read).collect::<Result<_, _>>()?;
        if identities.is_empty() { Err(SealError::NoIdentity) } else { Ok(Self(identities)) }
    }

    pub fn seal(&self, place: &str, value: &Secret) -> Result<String, SealError> {
        let plain = serde_json::to_vec(&SealedContentRef { r#for: place, value: value.expose() });
        let plain = Zeroizing::new(plain.map_err(|_| SealError::SealingFailed)?);
        let sealed = self.encrypt(&plain).ok_or(SealError::SealingFailed)?;
        String::from_utf8(sealed).map_err(|_| SealError::SealingFailed)
    }

    /// Opens a sealed text found at `place`.
    ///
    /// # Errors
    /// The text is damaged, for another identity, or for another place.
    pub fn open(&self, sealed: &str, place: &str) -> Result<Secret, SealError> {
        let plain = self.decrypt(sealed.trim())?;
        let SealedContent { r#for, value } =
            serde_json::from_slice(&plain).map_err(|_| SealError::Damaged)?;
        if r#for == place { Ok(value) } else { Err(SealError::AnotherPlace) }
    }

    fn encrypt(&self, plain: &[u8]) -> Option<Vec<u8>> {
        let recipients: Vec<_> = self.0.iter().map(x25519::Identity::to_public).collect();
        let recipients = recipients.iter().map(|one| -> &dyn age::Recipient { one });
        let encryptor = age::Encryptor::with_recipients(recipients).ok()?;
        let mut sealed = Vec::new();
        let armor = ArmoredWriter::wrap_output(&mut sealed, Format::AsciiArmor).ok()?;
        let mut writer = encryptor.wrap_output(armor).ok()?;
        writer.write_all(plain).ok()?;
        writer.finish().ok()?.finish().ok()?;
        Some(sealed)
    }

    fn decrypt(&self, sealed: &str) -> Result<Zeroizing<Vec<u8>>, SealError> {
        let armor = ArmoredReader::new(sealed.as_bytes());
        let decryptor = age::Decryptor::new(armor).map_err(|_| SealError::Damaged)?;
        let identities = self.0.iter().map(|one| -> &dyn age::Identity { one });
        let reader = decryptor.decrypt(identities).map_err(|_| SealError::AnotherIdentity)?;
        let mut plain = Zeroizing::new(Vec::new());
        let read = reader.take(PLAIN_BYTES_MAX).read_to_end(&mut plain);
        read.map_err(|_| SealError::Damaged)?;
        Ok(plain)
    }
}

/// Returns whether a text has the form of a sealed text, as far as is visible without a key.
pub fn is_sealed(text: &str) -> bool {
    let mut lines: Vec<&str> = text.trim().lines().map(str::trim_end).collect();
    let framed = lines.first() == Some(&BEGIN) && lines.pop() == Some(END);
    let body: String = lines.into_iter().skip(1).collect();
    let bytes = STANDARD.decode(body);
    framed && text.len() <= SEALED_BYTES_MAX && bytes.is_ok_and(|bytes| bytes.starts_with(VERSION))
}

#[cfg(test)]
mod tests {
    use age::secrecy::ExposeSecret;

    use super::*;

    #[test]
    fn a_secret_shows_nothing_of_itself() {
        assert_eq!(format!("{:?}", Secret::from("4242424242424242")), "Secret(***)");
        assert_eq!(format!("{:?}", Some(SecretBytes::from(vec![7]))), "Some(SecretBytes(***))");
    }

    #[test]
    fn secrets_compare_by_their_whole_content() {
        assert_eq!(Secret::from("a"), Secret::from(String::from("a")));
        assert_ne!(Secret::from("a"), Secret::from("ab"));
        assert_ne!(SecretBytes::from(vec![1, 2]), SecretBytes::from(vec![1, 3]));
        assert_eq!(serde_json::from_str::<Secret>(r#""a""#).unwrap().expose(), "a");
    }

    #[test]
    fn a_personal_value_shows_its_first_character_only() {
        let jane = Personal::from("Jane Doe");
        assert_eq!(jane.to_string(), "J•••");
        assert_eq!(format!("{jane:?}"), "Personal(J•••)");
        assert_eq!(Personal::from("Østen").mask(), "Ø•••");
        assert_eq!(Personal::from("").mask(), "");
        assert_eq!(jane.expose(), "Jane Doe");
    }

    const PLACE: &str = "SavedMethod/default/jane/source.card.number";

    fn keyring() -> (Keyring, String) {
        let identity = x25519::Identity::generate();
        let line = identity.to_string();
        let text = format!("# created: now\n# public key: x\n\n{}\n", line.expose_secret());
        (Keyring::read(&text).unwrap(), text)
    }

    #[test]
    fn what_was_sealed_opens_in_its_place_and_nowhere_else() {
        let (keys, text) = keyring();
        let sealed = keys.seal(PLACE, &Secret::from("4111\"\n")).unwrap();
        assert!(is_sealed(&sealed) && !sealed.contains("4111"));
        let again = Keyring::read(&text).unwrap();
        assert_eq!(again.open(&sealed, PLACE).unwrap().expose(), "4111\"\n");
        let moved = "SavedMethod/default/mallory/source.card.number";
        assert_eq!(again.open(&sealed, moved), Err(SealError::AnotherPlace));
        assert_eq!(keyring().0.open(&sealed, PLACE), Err(SealError::AnotherIdentity));
        assert_eq!(format!("{keys:?}"), "Keyring(1)");
    }

    #[test]
    fn a_damaged_text_is_told_as_such() {
        let (keys, _) = keyring();
        let sealed = keys.seal(PLACE, &Secret::from("4111")).unwrap();
        let lines: Vec<&str> = sealed.lines().collect();
        let shorter = [&lines[..1], &lines[2..]].concat().join("\n");
        for (text, looks_sealed) in [
            ("", false),
            ("sk_live_1", false),
            (sealed.replace("BEGIN AGE", "BEGIN").as_str(), false),
            (sealed.replace(END, "").as_str(), false),
            (sealed.replace('\n', " ").as_str(), false),
            (shorter.as_str(), false),
            (sealed.replace('\n', "\r\n").as_str(), true),
        ] {
            assert_eq!(is_sealed(text), looks_sealed, "{text}");
            assert!(looks_sealed || keys.open(text, PLACE).is_err(), "{text}");
        }
    }

    #[test]
    fn an_identity_file_without_identities_is_refused() {
        assert_eq!(Keyring::read("# nothing\n").unwrap_err(), SealError::NoIdentity);
        assert_eq!(Keyring::read("#\nage1abc\n").unwrap_err(), SealError::NotAnIdentity(2));
    }
}
