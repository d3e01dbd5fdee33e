//! Creates a document for a recurring charge that is on the service already.

use serde_json::{Map, Value, json};

use super::checks::RecurringChargeKind;
use crate::base::hash::Mark;
use crate::base::money::{Currency, Money};
use crate::effects::core::context::put;
use crate::kinds::remote::readback::{ImportTemplate, ImportTemplateCx};
use crate::kinds::schema::kind::SpecSchema;

/// Creates the document; its name is the description, else the amount.
pub(super) fn import_template(
    cx: &ImportTemplateCx<'_>,
    item: &Value,
) -> Result<ImportTemplate, String> {
    let text = |name: &str| item.get(name).and_then(Value::as_str).filter(|one| !one.is_empty());
    let currency = text("currency").unwrap_or("USD");
    let currency: Currency =
        currency.parse().map_err(|_| format!("the charge has an unknown currency {currency}"))?;
    let money = |name: &str| {
        let minor = item.get(name).and_then(Value::as_i64)?;
        Some(json!(Money::new(minor, currency).to_string()))
    };
    let amount =
        money("amount").ok_or_else(|| "the service shows no amount of the charge".to_owned())?;
    let mut spec = json!({
        "merchant": cx.merchant,
        "method": method(cx, item)?,
        "amount": amount,
        "schedule": schedule(item)?,
    });
    let description = text("description").map(Mark::strip_tag).filter(|one| !one.is_empty());
    if let Some(description) = &description {
        put(&mut spec, "description", description.as_str());
    }
    if let Some(most) = money("max_amount") {
        put(&mut spec, "max_amount", most);
    }
    if let Some(account) = text("account_id").filter(|_| cx.several_accounts) {
        put(&mut spec, "account", account);
    }
    if let Some(most) = item.get("max_occurrences").filter(|most| most.is_u64()) {
        put(&mut spec, "max_occurrences", most.clone());
    }
    let name = description.or_else(|| amount.as_str().map(str::to_owned)).unwrap_or_default();
    Ok(ImportTemplate { kind: RecurringChargeKind::NAME, name, spec })
}

/// Returns the saved method whose number the charge uses.
fn method(cx: &ImportTemplateCx<'_>, item: &Value) -> Result<String, String> {
    let shown = item.get("method").unwrap_or(&Value::Null);
    let number = shown.get("number").or_else(|| shown.get("account_number"));
    let number = number.and_then(Value::as_str).unwrap_or_default();
    let same = |facts: &Value| {
        let print = facts.get("fingerprint").filter(|print| print.is_string());
        let last4 = facts.get("last4").and_then(Value::as_str).filter(|last4| !last4.is_empty());
        match (print, shown.get("fingerprint").filter(|print| print.is_string())) {
            (Some(ours), Some(theirs)) => ours == theirs,
            _ => last4.is_some_and(|last4| number.ends_with(last4)) && fits(facts, shown),
        }
    };
    let all: Vec<&(String, Value)> = cx.methods.iter().filter(|(_, facts)| same(facts)).collect();
    let exact: Vec<&(String, Value)> =
        all.iter().copied().filter(|(_, facts)| fits(facts, shown)).collect();
    match (all.as_slice(), exact.as_slice()) {
        ([(name, _)], _) | (_, [(name, _)]) => Ok(name.clone()),
        ([], _) => Err(NO_METHOD.to_owned()),
        (several, _) => Err(ambiguous_method(several)),
    }
}

const NO_METHOD: &str = "no known saved method has the number of the charge: import the merchant's cards and banks \
                         first (`reckon import --all cards`, `--all banks`)";

/// Describes several saved methods with the same number, among which the choice is open.
fn ambiguous_method(several: &[&(String, Value)]) -> String {
    let names: Vec<&str> = several.iter().map(|(name, _)| name.as_str()).collect();
    format!(
        "several saved methods have the number of the charge ({}): write a document for the charge with the right \
         one as `method`, and run `reckon import RecurringCharge/NAME ID`",
        names.join(", ")
    )
}

/// Compares the expiry and type, which may decide where no fingerprint does.
fn fits(facts: &Value, shown: &Value) -> bool {
    ["exp_month", "exp_year", "card_type", "account_type"].into_iter().all(|name| {
        let both = facts.get(name).zip(shown.get(name));
        both.is_none_or(|(ours, theirs)| ours.is_null() || theirs.is_null() || ours == theirs)
    })
}

/// Returns the schedule as a document writes it. A missing start is replaced by the next date.
fn schedule(item: &Value) -> Result<Value, String> {
    let shown = item.get("schedule").and_then(Value::as_object);
    let shown = shown.ok_or_else(|| "the service shows no schedule of the charge".to_owned())?;
    let mut schedule = Map::new();
    for name in ["start", "interval_unit", "interval_delay", "end", "days"] {
        if let Some(value) = shown.get(name).filter(|value| !value.is_null()) {
            schedule.insert(name.to_owned(), value.clone());
        }
    }
    if !schedule.contains_key("start") {
        let next = item.get("next_payment").filter(|next| next.is_string());
        let next = next.ok_or_else(|| {
            "the service shows neither a start nor a next payment of the charge".to_owned()
        })?;
        schedule.insert("start".to_owned(), next.clone());
    }
    Ok(Value::Object(schedule))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(
        clippy::needless_pass_by_value,
        reason = "a row of a table is written where it is used"
    )]
    fn found(methods: &[(&str, Value)], shown: Value) -> Result<String, String> {
        let methods: Vec<(String, Value)> =
            methods.iter().map(|(name, facts)| ((*name).to_owned(), facts.clone())).collect();
        let cx = ImportTemplateCx { merchant: "acme", several_accounts: false, methods: &methods };
        method(&cx, &json!({"method": shown}))
    }

    fn card(year: u32) -> Value {
        json!({"fingerprint": "f1", "last4": "4242", "exp_month": 12, "exp_year": year})
    }

    /// Closes M13: of two cards with one number none is guessed.
    #[test]
    fn a_number_that_two_saved_cards_have_is_no_choice_but_where_the_expiry_tells() {
        let shown = |year| json!({"fingerprint": "f1", "exp_month": 12, "exp_year": year});
        assert_eq!(found(&[("jane", card(2031))], shown(2033)).unwrap(), "jane");
        let two = [("jane", card(2031)), ("june", card(2033))];
        assert_eq!(found(&two, shown(2033)).unwrap(), "june");
        let alike = [("jane", card(2031)), ("june", card(2031))];
        for (methods, year) in [(&two, 2030), (&alike, 2031)] {
            let told = found(methods, shown(year)).unwrap_err();
            assert!(told.contains("(jane, june)") && told.contains("reckon import"), "{told}");
        }
        assert!(found(&[], shown(2031)).unwrap_err().contains("import --all cards"));
    }
}
