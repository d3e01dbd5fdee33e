//! Compact form of values that are rarely read and stay in memory by the hundred thousand.

use std::marker::PhantomData;

use serde::de::DeserializeOwned;
use serde_json::Value;

/// A value as its JSON text. A tree of maps takes several times the memory of its text. `Debug` shows
/// the size alone: the value may be private.
#[derive(Clone, PartialEq, derive_more::Debug)]
#[debug("Packed({} bytes)", text.len())]
pub struct Packed<T> {
    text: Box<str>,
    of: PhantomData<fn() -> T>,
}

impl<T: DeserializeOwned> Packed<T> {
    pub fn unpack(&self) -> Result<T, serde_json::Error> {
        self.unpack_as()
    }

    /// Unpacks the value as another type with the same JSON form.
    pub fn unpack_as<U: DeserializeOwned>(&self) -> Result<U, serde_json::Error> {
        serde_json::from_str(&self.text)
    }

    /// Returns the value as JSON.
    pub fn json(&self) -> &str {
        &self.text
    }

    /// Packs a value that is JSON already. Text that is none unpacks to an error.
    pub fn of_json(text: &str) -> Self {
        Self { text: Box::from(text), of: PhantomData }
    }
}

impl From<&Value> for Packed<Value> {
    fn from(value: &Value) -> Self {
        Self { text: value.to_string().into_boxed_str(), of: PhantomData }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_packed_comes_back_whole_and_is_not_shown() {
        let value =
            json!({"name": "Jane", "cents": i64::MIN, "most": u64::MAX, "list": [null, true, {}]});
        let packed = Packed::from(&value);
        assert_eq!(packed.unpack().unwrap(), value);
        assert!(!format!("{packed:?}").contains("Jane"));
    }
}
