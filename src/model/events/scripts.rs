//! Scripts as the state knows them: those in use, those whose file is missing, and the values that
//! scripts keep between runs, with their size limits.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::hook_run::ScriptIdentity;
use crate::base::hash::Digest;
use crate::base::id::Key;
use crate::base::money::Money;

pub const MONEY: &str = "$money";
pub const KEYS_MAX: u64 = 10_000;
/// Maximum bytes of one script: keys and values, as JSON.
pub const BYTES_MAX: u64 = 8 << 20;
pub const ALL_KEYS_MAX: u64 = 100_000;
pub const ALL_BYTES_MAX: u64 = 64 << 20;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScriptValuesSize {
    pub keys: u64,
    pub bytes: u64,
}

impl ScriptValuesSize {
    /// Returns the size of one value under a key; zero for null.
    pub fn of(key: &str, value: &Value) -> Self {
        if value.is_null() {
            return Self::default();
        }
        let bytes = key.len().saturating_add(value.to_string().len());
        Self { keys: 1, bytes: u64::try_from(bytes).unwrap_or(u64::MAX) }
    }

    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let Self { keys, bytes } = other;
        Self { keys: self.keys.saturating_add(keys), bytes: self.bytes.saturating_add(bytes) }
    }

    #[must_use]
    pub fn without(self, other: Self) -> Self {
        let Self { keys, bytes } = other;
        Self { keys: self.keys.saturating_sub(keys), bytes: self.bytes.saturating_sub(bytes) }
    }
}

/// Adds to a kept value, which is null if there is none.
///
/// Returns `None` unless both are whole numbers, or amounts of one currency, and in range.
pub fn sum(value: &Value, added: &Value) -> Option<Value> {
    if value.is_null() {
        return (added.is_i64() || money(added).is_some()).then(|| added.clone());
    }
    if let (Some(one), Some(other)) = (money(value), money(added)) {
        let sum = one.checked_add(other).ok()?;
        return Some(json!({ MONEY: sum.to_string() }));
    }
    Some(json!(value.as_i64()?.checked_add(added.as_i64()?)?))
}

fn money(value: &Value) -> Option<Money> {
    let fields = value.as_object().filter(|fields| fields.len() == 1)?;
    fields.get(MONEY)?.as_str()?.parse().ok()
}

/// Record that the set of scripts in use changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptsLoaded {
    pub scripts: Vec<ScriptIdentity>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub begins: Vec<ScriptStart>,
    pub at: DateTime<Utc>,
}

/// The position at which a new script begins in the events of a merchant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptStart {
    pub merchant: Key,
    pub script: String,
    pub to: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownScript {
    /// The text of the script, as in [`ScriptIdentity`].
    pub text: Digest,
    pub since: DateTime<Utc>,
    /// Time since which its file is missing; `None` while it is in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub absent: Option<DateTime<Utc>>,
}

/// Record that a person had an absent script forgotten, with its position and its kept values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptForgotten {
    pub script: String,
    pub actor: String,
    pub at: DateTime<Utc>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k10_whole_numbers_and_amounts_of_one_currency_add_up() {
        let usd = |text: &str| json!({ MONEY: text });
        assert_eq!(sum(&json!(40), &json!(2)), Some(json!(42)));
        assert_eq!(sum(&Value::Null, &json!(2)), Some(json!(2)));
        assert_eq!(sum(&usd("1.50 USD"), &usd("2.00 USD")), Some(usd("3.50 USD")));
        assert_eq!(sum(&Value::Null, &usd("2.00 USD")), Some(usd("2.00 USD")));
        for (one, other) in [
            (json!(i64::MAX), json!(1)),
            (usd("1.00 USD"), usd("1.00 EUR")),
            (usd("1.00 USD"), json!(1)),
            (json!("1"), json!(1)),
            (Value::Null, json!("1")),
            (Value::Null, json!(1.5)),
        ] {
            assert_eq!(sum(&one, &other), None, "{one} {other}");
        }
    }
}
