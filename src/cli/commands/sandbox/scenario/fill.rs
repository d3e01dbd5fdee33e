//! Substitution in a step: `${charge}` becomes the value that an earlier step kept under `charge`.

use std::collections::BTreeMap;

use serde_json::Value;

/// Values that the steps so far kept, by name.
pub(super) type KeptValues = BTreeMap<String, String>;

/// Returns a text with its names substituted.
///
/// # Errors
/// No step kept a name, or a brace is not closed.
pub(super) fn text(pattern: &str, kept: &KeptValues) -> Result<String, String> {
    let mut filled = String::with_capacity(pattern.len());
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once("${") {
        let (name, after) =
            after.split_once('}').ok_or_else(|| format!("`${{` is not closed in `{pattern}`"))?;
        let value = kept.get(name).ok_or_else(|| format!("no earlier step keeps `{name}`"))?;
        filled.push_str(before);
        filled.push_str(value);
        rest = after;
    }
    filled.push_str(rest);
    Ok(filled)
}

/// Returns a body with its names substituted.
pub(super) fn body(pattern: &Value, kept: &KeptValues) -> Result<Value, String> {
    Ok(match pattern {
        Value::String(pattern) => Value::String(text(pattern, kept)?),
        Value::Array(items) => {
            Value::Array(items.iter().map(|item| body(item, kept)).collect::<Result<_, _>>()?)
        }
        Value::Object(map) => {
            let each = map.iter().map(|(name, value)| Ok((name.clone(), body(value, kept)?)));
            Value::Object(each.collect::<Result<_, String>>()?)
        }
        other @ (Value::Null | Value::Bool(_) | Value::Number(_)) => other.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_are_filled_in_wherever_they_stand() {
        let kept =
            KeptValues::from([("a".to_owned(), "1".to_owned()), ("b".to_owned(), "2".to_owned())]);
        assert_eq!(text("/x/${a}/y/${b}", &kept), Ok("/x/1/y/2".to_owned()));
        let filled = body(&json!({"list": [{"id": "${b}"}], "amount": 5}), &kept);
        assert_eq!(filled, Ok(json!({"list": [{"id": "2"}], "amount": 5})));
        assert_eq!(text("${c}", &kept), Err("no earlier step keeps `c`".to_owned()));
        assert_eq!(text("${a", &kept), Err("`${` is not closed in `${a`".to_owned()));
    }
}
