//! Settings that a person may change, by name: of a merchant and of its accounts (service-facts, 67
//! to 69), of a saved method and of a recurring charge (gateway-api, PATCH).

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::expect;
use crate::base::money::Money;

#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// Name at the service.
    pub name: &'static str,
    pub holds: Holds,
}

/// Value type of a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// Text; an empty one removes the value.
    Text,
    /// Text that is never blank.
    Name,
    /// Words, separated by commas, in any order; `*` equals no word.
    Words,
    Flag,
    Amount,
    /// Whole number of at least 1.
    Count,
    /// Month, 1 to 12.
    Month,
    /// Year of four digits.
    Year,
}

const fn setting(name: &'static str, holds: Holds) -> Setting {
    Setting { name, holds }
}

/// Settings of a merchant (service-facts, 67 and 68).
pub static MERCHANT_SETTINGS: [Setting; 13] = [
    setting("name", Holds::Name),
    setting("contact_name", Holds::Text),
    setting("contact_email", Holds::Text),
    setting("contact_phone", Holds::Text),
    setting("address1", Holds::Text),
    setting("address2", Holds::Text),
    setting("city", Holds::Text),
    setting("state", Holds::Text),
    setting("postal_code", Holds::Text),
    setting("country", Holds::Text),
    setting("api_allowed_ip_address_ranges", Holds::Words),
    setting("live_events_urls", Holds::Words),
    setting("test_events_urls", Holds::Words),
];

/// Settings of an account that takes cards (service-facts, 69).
pub static CARD_SETTINGS: [Setting; 12] = [
    setting("name", Holds::Name),
    setting("primary", Holds::Flag),
    setting("cvv_policy", Holds::Text),
    setting("avs_policy", Holds::Text),
    setting("ignore_avs_failure_if_cvv_match", Holds::Flag),
    setting("required_payment_fields", Holds::Words),
    setting("swipe_cvv_policy", Holds::Text),
    setting("swipe_avs_policy", Holds::Text),
    setting("swipe_ignore_avs_failure_if_cvv_match", Holds::Flag),
    setting("swipe_required_payment_fields", Holds::Words),
    setting("transaction_allowed_countries", Holds::Words),
    setting("accepted_card_types", Holds::Words),
];

/// Settings of an account that takes electronic checks (service-facts, 69).
pub static BANK_SETTINGS: [Setting; 3] = [
    setting("name", Holds::Name),
    setting("primary", Holds::Flag),
    setting("transaction_allowed_countries", Holds::Words),
];

/// Settings of a saved card or bank account.
pub static METHOD_TEXTS: [Setting; 2] =
    [setting("description", Holds::Text), setting("reference", Holds::Text)];

/// Parts of a card that a recurring charge takes without a new number (gateway-api, PATCH
/// /v1/recurring/charges/{id}).
pub(super) const CARD_DATE: [&str; 2] = ["exp_month", "exp_year"];

/// Settings of a recurring charge. Of its method that is only a card's new date: another number
/// needs its document, or a new charge.
pub static RECURRING_SETTINGS: [Setting; 6] = [
    setting("description", Holds::Text),
    setting("amount", Holds::Amount),
    setting("max_amount", Holds::Amount),
    setting("max_occurrences", Holds::Count),
    setting(CARD_DATE[0], Holds::Month),
    setting(CARD_DATE[1], Holds::Year),
];

/// Returns whether the fields of a change set a card's date and nothing else.
pub fn sets_date_alone(fields: &Value) -> bool {
    let set = fields.get("set").and_then(Value::as_object);
    set.is_some_and(|set| {
        !set.is_empty() && set.keys().all(|name| CARD_DATE.contains(&name.as_str()))
    })
}

impl Setting {
    /// Parses the value of a text.
    ///
    /// # Errors
    ///
    /// The required form of the value.
    pub fn value(&self, text: &str) -> Result<Value, String> {
        let value = match (self.holds, text) {
            (Holds::Flag, "true") => json!(true),
            (Holds::Flag, "false") => json!(false),
            (Holds::Amount, text) => {
                text.parse::<Money>().map_or(Value::Null, |money| json!(money))
            }
            (Holds::Count | Holds::Month | Holds::Year, text) => {
                text.parse::<u32>().map_or(Value::Null, |count| json!(count))
            }
            (Holds::Flag | Holds::Text | Holds::Name | Holds::Words, text) => json!(text),
        };
        self.unfit(&value).map_or(Ok(value), Err)
    }

    /// Returns the reason why the setting cannot hold this value, if any.
    fn unfit(&self, value: &Value) -> Option<String> {
        let fits = match self.holds {
            Holds::Flag => value.is_boolean(),
            Holds::Text | Holds::Words => value.is_string(),
            Holds::Name => value.as_str().is_some_and(|text| !text.trim().is_empty()),
            Holds::Amount => Money::deserialize(value).is_ok(),
            Holds::Count => is_within(value, 1, u64::from(u32::MAX)),
            Holds::Month => is_within(value, 1, 12),
            Holds::Year => is_within(value, 1000, 9999),
        };
        (!fits).then(|| format!("`{}` is {}", self.name, self.holds.words()))
    }

    /// Returns whether an answered value means the requested one. The service omits empty and false
    /// values (service-facts, 8).
    fn same(&self, asked: &Value, answered: &Value) -> bool {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        match self.holds {
            Holds::Flag => asked.as_bool() == Some(answered.as_bool().unwrap_or_default()),
            Holds::Text | Holds::Name => text(asked) == text(answered),
            Holds::Words => words(&text(asked)) == words(&text(answered)),
            Holds::Amount | Holds::Count | Holds::Month | Holds::Year => asked == answered,
        }
    }
}

impl Holds {
    /// Describes the value type to people.
    const fn words(self) -> &'static str {
        match self {
            Self::Text => "a text",
            Self::Name => "a text that is not blank",
            Self::Words => "words separated by commas",
            Self::Flag => "true or false",
            Self::Amount => "an amount with its currency, such as 125.00 USD",
            Self::Count => "a whole number, 1 at least",
            Self::Month => "a month, 1 to 12",
            Self::Year => "a year of four digits",
        }
    }
}

fn is_within(value: &Value, least: u64, most: u64) -> bool {
    value.as_u64().is_some_and(|number| (least..=most).contains(&number))
}

/// Returns the words of a list, sorted; none for a list that means all.
fn words(text: &str) -> Vec<String> {
    let words = text.split(',').map(str::trim).filter(|word| !word.is_empty() && *word != "*");
    let mut words: Vec<String> = words.map(str::to_uppercase).collect();
    words.sort_unstable();
    words.dedup();
    words
}

fn named(settings: &'static [Setting], name: &str) -> Option<&'static Setting> {
    settings.iter().find(|setting| setting.name == name)
}

/// Checks that every entry of `set` can be set.
///
/// # Errors
///
/// All problems of `set`.
pub(super) fn check(settings: &'static [Setting], set: &Map<String, Value>) -> Result<(), String> {
    if set.is_empty() {
        return Err("nothing is named that is to be set".to_owned());
    }
    let wrong = |(name, value): (&String, &Value)| match named(settings, name) {
        Some(setting) => setting.unfit(value),
        None => Some(format!("there is no `{name}` to set")),
    };
    let wrong: Vec<String> = set.iter().filter_map(wrong).collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ")) }
}

/// Returns a sentence for each setting that an object does not show as it was set.
pub(super) fn differing(settings: &'static [Setting], set: &Value, shown: &Value) -> Vec<String> {
    let set = set.as_object().into_iter().flatten();
    let differs = |(name, asked): (&String, &Value)| {
        let answered = shown.get(name).unwrap_or(&Value::Null);
        let same = named(settings, name).is_some_and(|setting| setting.same(asked, answered));
        (!same).then(|| format!("{name}: asked {asked}, answered {}", expect::said(answered)))
    };
    set.filter_map(differs).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use schemars::schema_for;

    use super::*;
    use crate::api::merchant::{AccountChange, MerchantChange};

    fn names(settings: &[Setting]) -> BTreeSet<String> {
        settings.iter().map(|setting| setting.name.to_owned()).collect()
    }

    fn fields(schema: &schemars::Schema) -> BTreeSet<String> {
        let properties = schema.as_value().get("properties").and_then(Value::as_object).unwrap();
        properties.keys().cloned().collect()
    }

    #[test]
    fn what_can_be_set_is_what_the_requests_hold() {
        assert_eq!(names(&MERCHANT_SETTINGS), fields(&schema_for!(MerchantChange)));
        assert_eq!(names(&CARD_SETTINGS), fields(&schema_for!(AccountChange)));
        assert!(names(&BANK_SETTINGS).is_subset(&names(&CARD_SETTINGS)));
    }

    #[test]
    fn a_text_becomes_what_the_setting_holds() {
        let value = |name: &str, text: &str| named(&CARD_SETTINGS, name).unwrap().value(text);
        assert_eq!(value("primary", "true"), Ok(json!(true)));
        assert_eq!(value("primary", "yes"), Err("`primary` is true or false".to_owned()));
        assert_eq!(value("name", "true"), Ok(json!("true")));
        assert_eq!(value("name", " "), Err("`name` is a text that is not blank".to_owned()));
        assert_eq!(value("accepted_card_types", ""), Ok(json!("")), "all of them");
        let value = |name: &str, text: &str| named(&RECURRING_SETTINGS, name).unwrap().value(text);
        let amount = json!({"minor": 2500, "currency": "USD"});
        assert_eq!(value("amount", "25.00 USD"), Ok(amount));
        let told = "`amount` is an amount with its currency, such as 125.00 USD".to_owned();
        assert_eq!(value("amount", "25"), Err(told));
        assert_eq!(value("max_occurrences", "3"), Ok(json!(3)));
        let told = "`max_occurrences` is a whole number, 1 at least".to_owned();
        assert_eq!(value("max_occurrences", "0"), Err(told));
    }

    #[test]
    fn everything_that_is_wrong_is_told_at_once() {
        let check = |set: Value| check(&BANK_SETTINGS, set.as_object().unwrap());
        assert_eq!(check(json!({"name": "Till", "primary": false})), Ok(()));
        assert!(check(json!({})).is_err());
        let wrong = check(json!({"name": 7, "primary": "true", "cvv_policy": "DISABLED"}));
        let wrong = wrong.unwrap_err();
        for told in ["`name` is a text", "`primary` is true or false", "no `cvv_policy` to set"] {
            assert!(wrong.contains(told), "{wrong}");
        }
    }

    #[test]
    fn words_have_no_order_and_what_is_left_out_is_empty() {
        let same = |set: Value, shown: Value| differing(&CARD_SETTINGS, &set, &shown).is_empty();
        let cards = |text: &str| json!({ "accepted_card_types": text });
        assert!(same(cards("VISA, jcb"), cards("JCB,VISA")));
        assert!(same(cards("*"), json!({})));
        assert!(!same(cards("VISA"), cards("*")));
        assert!(same(json!({"primary": false}), json!({})));
        assert!(!same(json!({"primary": true}), json!({})));
        assert!(!same(json!({"name": "Till"}), json!({"name": "till"})));
        let told = differing(&CARD_SETTINGS, &json!({"name": "Till"}), &json!({"name": "Main"}));
        assert_eq!(told, [r#"name: asked "Till", answered "Main""#]);
    }
}
