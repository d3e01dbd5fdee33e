//! Request of an effect against its answer (law 4: the answer equals the request), and its money.
//!
//! The money is computed from the request itself: a planner that omits an amount does not get it
//! past the meter.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::base::id::RemoteId;
use crate::base::money::{Currency, Money};
use crate::base::outside_text::ServiceText;
use crate::base::outside_text::known::KnownValues;
use crate::model::effect::{Effect, MoneyMove};

/// Longest number that can be an amount: a longer one in an answer may be a card's.
const AMOUNT_LENGTH_MAX: usize = 11;

/// Returns a sentence for each path of `expect` at which `reply` differs.
pub fn mismatches(expect: &BTreeMap<String, Value>, reply: &Value) -> Vec<String> {
    let differs = |(path, asked): (&String, &Value)| {
        let answered = at(reply, path);
        (!is_equivalent(asked, answered))
            .then(|| format!("{path}: asked {asked}, answered {}", render_value(answered)))
    };
    expect.iter().filter_map(differs).collect()
}

/// Returns the answer of an effect that did everything as requested to the object `id`.
pub fn expected_answer(expect: &BTreeMap<String, Value>, id: &RemoteId) -> Value {
    let mut answer = Map::new();
    for (path, value) in expect.iter().filter(|(_, value)| !value.is_null()) {
        put_at(&mut answer, path, value);
    }
    answer.insert("id".to_owned(), json!(id));
    Value::Object(answer)
}

/// Sets the value at a dotted path, unless a value that is no object blocks that path.
fn put_at(object: &mut Map<String, Value>, path: &str, value: &Value) {
    let Some((name, rest)) = path.split_once('.') else {
        object.insert(path.to_owned(), value.clone());
        return;
    };
    if let Value::Object(inner) = object.entry(name).or_insert_with(|| json!({})) {
        put_at(inner, rest, value);
    }
}

/// Returns the id in an answer, which must be usable.
pub(crate) fn id(reply: &Value) -> Result<RemoteId, String> {
    usable_id(text(reply, "id")).map_err(|error| format!("the answer has no usable id: {error}"))
}

/// Checks that an id may be stored and printed: no blank, no control character, nothing masked in
/// the answer.
pub(crate) fn usable_id(text: &str) -> Result<RemoteId, String> {
    let is_usable = |byte: u8| byte.is_ascii_graphic() && byte != b'*';
    if !text.bytes().all(is_usable) {
        return Err("it is no plain ASCII word".to_owned());
    }
    RemoteId::new(text).map_err(|error| error.to_string())
}

/// Renders a value of an answer for a sentence of ours: cleaned, except whole numbers such as
/// amounts.
pub(crate) fn render_value(value: &Value) -> String {
    let text = value.to_string();
    if value.is_number() && text.len() <= AMOUNT_LENGTH_MAX {
        return text;
    }
    ServiceText::clean(&text, &KnownValues::default()).to_string()
}

/// Renders a field of an answer for a sentence of ours.
pub(crate) fn render_field(object: &Value, field: &str) -> String {
    match object.get(field) {
        Some(Value::String(text)) => ServiceText::clean(text, &KnownValues::default()).to_string(),
        other => render_value(other.unwrap_or(&Value::Null)),
    }
}

pub(crate) fn render_id(object: &Value) -> String {
    usable_id(text(object, "id")).map_or_else(|_| "without an id".to_owned(), |id| id.to_string())
}

pub(crate) fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    object.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the value at a dotted path; null if missing.
fn at<'a>(reply: &'a Value, path: &str) -> &'a Value {
    path.split('.').fold(reply, |value, key| value.get(key).unwrap_or(&Value::Null))
}

/// Compares by meaning: `12`, `12.0` and `"12"` are one number; a sequence may hold either form.
fn is_equivalent(asked: &Value, answered: &Value) -> bool {
    match (asked, answered) {
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_equivalent(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.iter().all(|(key, value)| is_equivalent(value, b.get(key).unwrap_or(&Value::Null)))
        }
        (Value::Number(_), _) | (_, Value::Number(_)) => {
            parse_whole(asked).is_some() && parse_whole(asked) == parse_whole(answered)
        }
        _ => asked == answered,
    }
}

/// Parses a whole number in any of these forms.
fn parse_whole(value: &Value) -> Option<i64> {
    let text = match value {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    text.strip_suffix(".0").unwrap_or(&text).parse().ok()
}

/// Meaning of an amount that is in a request but that its effect does not name.
const UNDECLARED: &str = "undeclared";

/// Returns the money that an effect names, and the highest amount of its request, or of the
/// expected answer, if that exceeds every named one.
pub fn requested_money(effect: &Effect) -> Vec<MoneyMove> {
    let named = effect.moves.iter().map(|money| money.amount.minor().saturating_abs()).max();
    let body = &effect.request.body;
    let asked =
        [body.get("amount"), body.pointer("/recur/amount"), effect.expect.get("total_amount")];
    let most = asked.into_iter().flatten().filter_map(Value::as_i64).max();
    let hidden = most.filter(|most| *most > named.unwrap_or(0));
    let hidden = hidden.map(|minor| MoneyMove {
        amount: Money::new(minor, request_currency(effect)),
        mode: effect.mode,
        meaning: UNDECLARED,
    });
    effect.moves.iter().cloned().chain(hidden).collect()
}

/// Returns the currency of a request: its own, else its effect's, else the service's default.
fn request_currency(effect: &Effect) -> Currency {
    let said = effect.request.body.get("currency").and_then(Value::as_str);
    let said = said.and_then(|code| code.parse().ok());
    let named = || effect.moves.first().map(|money| money.amount.currency());
    said.or_else(named).unwrap_or(Currency::USD)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::effects::invoices::create_invoice;
    use crate::effects::recurring::create_recurring;
    use crate::effects::testing::obligation;

    #[test]
    fn another_amount_is_named_with_both_values() {
        let expect = BTreeMap::from([("total".to_owned(), json!(12500))]);
        let found = mismatches(&expect, &json!({"total": 1250}));
        assert_eq!(found, ["total: asked 12500, answered 1250"]);
    }

    #[test]
    fn the_answer_as_it_was_asked_for_is_what_was_expected() {
        let paths = [("id", "old"), ("schedule.end", "2030-02-01"), ("schedule.unit", "month")];
        let mut expect: BTreeMap<String, Value> =
            paths.iter().map(|(path, value)| ((*path).to_owned(), json!(value))).collect();
        expect.insert("description".to_owned(), Value::Null);
        let answer = expected_answer(&expect, &RemoteId::new("r1").unwrap());
        assert_eq!(answer, json!({"id": "r1", "schedule": {"end": "2030-02-01", "unit": "month"}}));
    }

    #[test]
    fn a_number_is_the_same_however_it_is_written() {
        let expect = BTreeMap::from([("a.b".to_owned(), json!(2))]);
        for answer in [json!("2"), json!(2), json!(2.0)] {
            assert!(mismatches(&expect, &json!({"a": {"b": answer}})).is_empty());
        }
        assert_eq!(mismatches(&expect, &json!({})).len(), 1);
    }

    #[test]
    fn an_answer_may_say_more_than_was_asked_but_not_less() {
        let expect = BTreeMap::from([("schedule".to_owned(), json!({"days": ["1", "LAST"]}))]);
        let more = json!({"schedule": {"days": ["1", "LAST"], "start": "2026-01-01"}});
        assert!(mismatches(&expect, &more).is_empty());
        let less = json!({"schedule": {"days": ["1"]}});
        assert_eq!(mismatches(&expect, &less).len(), 1);
    }

    fn shown(effect: &Effect) -> Vec<String> {
        let moves = requested_money(effect).into_iter();
        moves.map(|money| format!("{} {}", money.amount, money.meaning)).collect()
    }

    #[test]
    fn an_amount_that_nobody_names_is_found_in_the_request() {
        let body = json!({"amount": 500, "currency": "EUR"});
        let mut effect = create_recurring(obligation(), body, "rent");
        assert_eq!(shown(&effect), ["5.00 EUR undeclared"]);
        let money = |minor| MoneyMove {
            amount: Money::new(minor, "EUR".parse().unwrap()),
            mode: effect.mode,
            meaning: "collected_per_occurrence",
        };
        let (low, right) = (money(100), money(500));
        effect.moves = vec![low];
        assert_eq!(shown(&effect), ["1.00 EUR collected_per_occurrence", "5.00 EUR undeclared"]);
        effect.moves = vec![right];
        assert_eq!(shown(&effect), ["5.00 EUR collected_per_occurrence"]);
        let invoice = create_invoice(obligation(), json!({"currency": "USD"}), &[], 700);
        assert_eq!(shown(&invoice), ["7.00 USD undeclared"]);
    }
}
