//! Removes the secrets of its own request from the data of a good answer.
//!
//! No answer of the service needs to repeat the credential, the number or the code of its request.
//! Otherwise they would enter facts, ids and sentences, where only the service's own data belongs.

use serde_json::{Map, Value};

use crate::base::outside_text::KnownValues;

/// Replaces each secret of the answer by `***`, in texts, numbers and names of fields.
pub(super) fn without_secrets(reply: Value, known: &KnownValues) -> Value {
    match known.shortest_secret() {
        Some(shortest) => replace_secrets(reply, known, shortest),
        None => reply,
    }
}

/// Replaces secrets; texts shorter than `shortest` are none.
fn replace_secrets(value: Value, known: &KnownValues, shortest: usize) -> Value {
    let secret =
        |text: &str| (text.len() >= shortest).then(|| known.without_secrets(text)).flatten();
    match value {
        Value::String(text) => Value::String(secret(&text).unwrap_or(text)),
        Value::Number(number) => {
            secret(&number.to_string()).map_or(Value::Number(number), Value::String)
        }
        Value::Array(items) => {
            items.into_iter().map(|item| replace_secrets(item, known, shortest)).collect()
        }
        Value::Object(fields) => {
            let each = |(name, value): (String, Value)| {
                (secret(&name).unwrap_or(name), replace_secrets(value, known, shortest))
            };
            Value::Object(fields.into_iter().map(each).collect::<Map<_, _>>())
        }
        Value::Null | Value::Bool(_) => value,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Closes S2: an answer that repeats its request reveals none of the request's secrets.
    #[test]
    fn an_answer_that_repeats_a_number_does_not_hold_it() {
        let mut known = KnownValues::default();
        known.hide_secret("4012000010000");
        let reply = json!({"id": "c1", "status": "for 4012 0000 1000 0", "4012000010000": [4_012_000_010_000_u64]});
        let told = without_secrets(reply, &known);
        assert_eq!(told, json!({"id": "c1", "status": "for ***", "***": ["***"]}));
        let plain = json!({"id": "c1"});
        assert_eq!(without_secrets(plain.clone(), &KnownValues::default()), plain);
    }
}
