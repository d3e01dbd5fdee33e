//! Compact form of values that are rarely read and stay in memory by the hundred thousand.

use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A value as its JSON text. A tree of maps takes several times the memory of its text. `Debug` shows
/// the size alone: the value may be private.
#[derive(Clone, PartialEq, derive_more::Debug)]
#[debug("Packed({} bytes)", text.len())]
pub struct Packed<T> {
    text: Box<[u8]>,
    of: PhantomData<fn() -> T>,
}

impl<T: Serialize + DeserializeOwned> Packed<T> {
    /// Packs a value.
    ///
    /// # Errors
    /// The value has no JSON form, such as a map whose keys are no texts.
    pub fn new(value: &T) -> Result<Self, serde_json::Error> {
        Ok(Self { text: serde_json::to_vec(value)?.into_boxed_slice(), of: PhantomData })
    }

    pub fn unpack(&self) -> Result<T, serde_json::Error> {
        serde_json::from_slice(&self.text)
    }
}

impl From<&Value> for Packed<Value> {
    fn from(value: &Value) -> Self {
        Self { text: value.to_string().into_bytes().into_boxed_slice(), of: PhantomData }
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
        let packed = Packed::new(&value).unwrap();
        assert_eq!(packed, Packed::from(&value));
        assert_eq!(packed.unpack().unwrap(), value);
        assert!(!format!("{packed:?}").contains("Jane"));
    }
}
