//! Reads the surcharge that a merchant adds to a payment of this amount (gateway-api, GET
//! /bank-accounts/{bank_account_id}/surcharge). The service computes the total, reckon never does.

use serde_json::{Value, json};

use crate::api::call::Call;
use crate::api::payments::surcharge::GetSurcharge;
use crate::effects::core::row::{
    Learned, ReadingCx, ReadingError, ReadingRow, RemoteAnswer, RemoteQuery,
};

/// Reading of a surcharge, about `{bank_account, type, amount}`.
pub const SURCHARGE: &str = "charge.surcharge";

pub(crate) const ROW: ReadingRow = ReadingRow { name: SURCHARGE, queries, learn };

fn queries(about: &Value) -> Vec<RemoteQuery> {
    let account = text(about, "bank_account");
    vec![RemoteQuery::one(
        Call::to::<GetSurcharge>(&[account]).query("amount", whole(about, "amount")),
    )]
}

/// Returns the fact `surcharge`: the question and its result. No entry of the type means that
/// nothing is added.
fn learn(cx: &ReadingCx<'_>, answers: &[RemoteAnswer]) -> Result<Learned, ReadingError> {
    let Some(RemoteAnswer::Body(entries)) = answers.first() else {
        let why = "the service knows no surcharge of the bank account";
        return Err(ReadingError::RetryLater(why.to_owned()));
    };
    let wanted = text(cx.about, "type");
    let entries = entries.as_array().map_or(&[][..], Vec::as_slice);
    let entry = entries.iter().find(|entry| text(entry, "type") == wanted);
    let amount = whole(cx.about, "amount");
    let (surcharge, total) = match entry {
        Some(entry) => (whole(entry, "surcharge_amount"), whole(entry, "total_amount")),
        None => (0, amount),
    };
    if surcharge < 0 || amount.checked_add(surcharge) != Some(total) {
        return Err(ReadingError::RetryLater(format!(
            "the service answers a surcharge that does not add up: {amount} and {surcharge} are not {total}"
        )));
    }
    let fact = json!({"about": cx.about, "surcharge_amount": surcharge, "total_amount": total});
    let exists = cx.observed.is_some_and(|observed| observed.exists);
    Ok(Learned { exists, facts: json!({"surcharge": fact}), ..Learned::default() })
}

/// Returns a text field; empty if missing.
fn text<'a>(item: &'a Value, field: &str) -> &'a str {
    item.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// Returns a whole number; 0 if missing.
fn whole(item: &Value, field: &str) -> i64 {
    item.get(field).and_then(Value::as_i64).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::id::{Key, Mode};

    fn read(entries: Value) -> Result<Value, ReadingError> {
        let key: Key = "RecurringCharge/default/it".parse().unwrap();
        let about = json!({"bank_account": "bank_1", "type": "card", "amount": 5000});
        let cx = ReadingCx {
            key: &key,
            mode: Mode::Test,
            generation: 0,
            observed: None,
            about: &about,
            knows_mark: &|_| true,
        };
        let learned = learn(&cx, &[RemoteAnswer::Body(entries)])?;
        assert!(!learned.exists && learned.facts["surcharge"]["about"] == about);
        Ok(json!([
            learned.facts["surcharge"]["surcharge_amount"],
            learned.facts["surcharge"]["total_amount"]
        ]))
    }

    #[test]
    fn the_total_is_the_service_s_own_and_no_entry_adds_nothing() {
        let card = json!([{"type": "card", "surcharge_amount": 150, "total_amount": 5150}]);
        assert_eq!(read(card).unwrap(), json!([150, 5150]));
        for none in [json!([]), Value::Null, json!([{"type": "bank", "surcharge_amount": 9}])] {
            assert_eq!(read(none).unwrap(), json!([0, 5000]));
        }
    }

    #[test]
    fn a_surcharge_that_does_not_add_up_is_not_believed() {
        let wrong = json!([{"type": "card", "surcharge_amount": 150, "total_amount": 5100}]);
        assert!(matches!(read(wrong), Err(ReadingError::RetryLater(_))));
    }
}
