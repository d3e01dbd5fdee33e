//! Types of the values of settings.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::Uri;
use serde_json::{Value, json};

use crate::base::clock::parse_duration;
use crate::base::id::Name;
use crate::base::local::is_loopback_ip;
use crate::base::money::{Money, MoneyError};
use crate::base::secret::{Secret, SecretBytes};
use crate::config::setting::{FromText, InvalidValue, parse_word, text_schema, words};
use crate::kinds::schema::kind::EnvPattern;
use crate::model::manifest::OnDoubt;

const VAULT_KEY_BYTES: usize = 32;

/// The beginning of changes that documents ask a daemon for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyncMode {
    /// They go to the service at once.
    Auto,
    /// They wait for `reckon sync`.
    Manual,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AmountFormat {
    /// `"125.00 USD"` only.
    Decimal,
    /// Also an integer of minor units, as on the wire.
    Minor,
}

/// An address of a web service: `https://`, or `http://` at a loopback IP. No slash at its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpUrl(String);

impl HttpUrl {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The key of the vault: 32 bytes, which stay out of logs and messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VaultKey(pub(crate) SecretBytes);

impl FromText for VaultKey {
    fn from_text(text: &str, _dir: &Path) -> Result<Self, InvalidValue> {
        let bytes = STANDARD.decode(text.trim()).ok().filter(|key| key.len() == VAULT_KEY_BYTES);
        bytes.map(|key| Self(key.into())).ok_or_else(|| {
            let help = "create one with `openssl rand -base64 32`";
            InvalidValue::new("the key is not 32 bytes in base64", help)
        })
    }

    fn schema() -> Value {
        json!({ "title": "key", "type": "string", "writeOnly": true })
    }
}

impl FromText for HttpUrl {
    fn from_text(text: &str, _dir: &Path) -> Result<Self, InvalidValue> {
        let example = "write it like `https://api.example.com`";
        let wrong = |why: &str| InvalidValue::new(format!("`{text}` {why}"), example);
        let uri: Uri = text.parse().map_err(|_| wrong("is not a web address"))?;
        let host = uri.host().filter(|host| !host.is_empty());
        let host = host.ok_or_else(|| wrong("is not a web address"))?;
        if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            return Err(wrong("holds a user name"));
        }
        match uri.scheme_str() {
            Some("https") => {}
            Some("http") if is_loopback_ip(host) => {}
            Some("http") => {
                let message = format!("`{text}` is not encrypted");
                let help = "write `https://`; plain HTTP is for a loopback IP, such as `http://127.0.0.1:8700`";
                return Err(InvalidValue::new(message, help));
            }
            Some(_) | None => return Err(wrong("is not a web address")),
        }
        Ok(Self(text.trim_end_matches('/').to_owned()))
    }

    fn schema() -> Value {
        json!({ "title": "web address", "type": "string", "pattern": "^https?://" })
    }
}

impl FromText for Duration {
    fn from_text(text: &str, _dir: &Path) -> Result<Self, InvalidValue> {
        parse_duration(text).ok_or_else(|| {
            let help = "write a number and a unit: `500ms`, `30s`, `5m`, `2h` or `7d`";
            InvalidValue::new(format!("`{text}` is not a duration"), help)
        })
    }

    fn schema() -> Value {
        json!({ "title": "duration", "type": "string", "pattern": "^[0-9]+(ms|s|m|h|d|w)$" })
    }
}

impl FromText for SocketAddr {
    fn from_text(text: &str, _dir: &Path) -> Result<Self, InvalidValue> {
        text.parse().map_err(|_| {
            let message = format!("`{text}` is not an address to listen at");
            InvalidValue::new(message, "write an IP and a port, such as `127.0.0.1:8780`")
        })
    }

    fn schema() -> Value {
        json!({ "title": "address and port", "type": "string", "pattern": ":[0-9]+$" })
    }
}

impl FromText for PathBuf {
    fn from_text(text: &str, dir: &Path) -> Result<Self, InvalidValue> {
        if text.is_empty() {
            return Err(InvalidValue::new("the path is empty", "write a path, such as `specs`"));
        }
        Ok(dir.join(text))
    }

    fn schema() -> Value {
        json!({ "title": "path", "type": ["string", "number"], "minLength": 1 })
    }
}

impl FromText for String {
    fn from_text(text: &str, _dir: &Path) -> Result<Self, InvalidValue> {
        check_not_empty(text)?;
        Ok(text.to_owned())
    }
}

impl FromText for Secret {
    fn from_text(text: &str, _dir: &Path) -> Result<Self, InvalidValue> {
        check_not_empty(text)?;
        Ok(Self::from(text))
    }

    fn schema() -> Value {
        json!({ "title": "secret", "type": ["string", "number"], "writeOnly": true })
    }
}

fn check_not_empty(text: &str) -> Result<(), InvalidValue> {
    if text.trim().is_empty() {
        let help = "write the value, or name its variable: `{env: NAME}`";
        return Err(InvalidValue::new("the value is empty", help));
    }
    Ok(())
}

impl FromText for Name {
    fn from_text(text: &str, _dir: &Path) -> Result<Self, InvalidValue> {
        text.parse().map_err(|error: crate::base::id::NameError| {
            let said = error.to_string();
            let (message, help) = said.rsplit_once("; ").unwrap_or((&said, "write another name"));
            InvalidValue::new(message, help)
        })
    }

    fn schema() -> Value {
        text_schema("name")
    }
}

impl FromText for bool {
    fn from_text(text: &str, _dir: &Path) -> Result<Self, InvalidValue> {
        parse_word(text, &[("true", true), ("false", false)])
    }

    fn schema() -> Value {
        json!({ "title": "true or false", "enum": [true, false, "true", "false"] })
    }
}

words!(AmountFormat: "decimal" => Decimal, "minor" => Minor);
words!(SyncMode: "auto" => Auto, "manual" => Manual);
words!(OnDoubt: "recreate" => Recreate, "hold" => Hold);

impl FromText for Money {
    fn from_text(text: &str, _dir: &Path) -> Result<Self, InvalidValue> {
        let example = "write it like `\"5000.00 USD\"`";
        let money: Self = text.parse().map_err(|error: MoneyError| {
            let said = error.to_string();
            let (message, help) = said.rsplit_once("; ").unwrap_or((&said, example));
            InvalidValue::new(message, help)
        })?;
        if money.minor() < 0 {
            return Err(InvalidValue::new(format!("`{text}` is below zero"), example));
        }
        Ok(money)
    }

    fn schema() -> Value {
        json!({ "title": "amount", "type": "string", "pattern": "^\\s*[0-9]+(\\.[0-9]+)?\\s+[A-Za-z]{3}\\s*$" })
    }
}

impl FromText for u32 {
    fn from_text(text: &str, _dir: &Path) -> Result<Self, InvalidValue> {
        text.parse().map_err(|_| {
            let help = "write a whole number, such as `10`";
            InvalidValue::new(format!("`{text}` is not a number"), help)
        })
    }

    fn schema() -> Value {
        json!({ "title": "whole number", "type": ["integer", "string"], "minimum": 0, "pattern": "^\\+?[0-9]+$" })
    }
}

impl FromText for EnvPattern {
    fn from_text(text: &str, _dir: &Path) -> Result<Self, InvalidValue> {
        let (name, prefix) = match text.strip_suffix('*') {
            Some(prefix) => (prefix, true),
            None => (text, false),
        };
        if !is_variable_name(name) {
            let message = format!("`{text}` is not the name of a variable");
            let help = "write a name, or a prefix and `*`, such as `CODE_*`";
            return Err(InvalidValue::new(message, help));
        }
        let name = name.to_owned();
        Ok(if prefix { Self::Prefix(name) } else { Self::Exact(name) })
    }

    fn schema() -> Value {
        json!({ "title": "variable", "type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*\\*?$" })
    }
}

pub(crate) fn is_variable_name(name: &str) -> bool {
    let word = |found: char| found.is_ascii_alphanumeric() || found == '_';
    name.chars().all(word) && name.chars().next().is_some_and(|first| !first.is_ascii_digit())
}
