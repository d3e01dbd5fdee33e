//! Settings that a person may change, by name: of a merchant and of its accounts (service-facts, 67
//! to 69), of a saved method and of a recurring charge (gateway-api, PATCH).

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::base::money::Money;
use crate::effects::core::expect;

#[derive(Debug, Clone, Copy)]
pub struct RemoteSetting {
    /// Name at the service.
    pub name: &'static str,
    pub value_type: SettingType,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingType {
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

const fn setting(name: &'static str, holds: SettingType) -> RemoteSetting {
    RemoteSetting { name, value_type: holds }
}

/// Settings of a merchant (service-facts, 67 and 68).
pub static MERCHANT_SETTINGS: [RemoteSetting; 13] = [
    setting("name", SettingType::Name),
    setting("contact_name", SettingType::Text),
    setting("contact_email", SettingType::Text),
    setting("contact_phone", SettingType::Text),
    setting("address1", SettingType::Text),
    setting("address2", SettingType::Text),
    setting("city", SettingType::Text),
    setting("state", SettingType::Text),
    setting("postal_code", SettingType::Text),
    setting("country", SettingType::Text),
    setting("api_allowed_ip_address_ranges", SettingType::Words),
    setting("live_events_urls", SettingType::Words),
    setting("test_events_urls", SettingType::Words),
];

/// Settings of an account that takes cards (service-facts, 69).
pub static CARD_SETTINGS: [RemoteSetting; 12] = [
    setting("name", SettingType::Name),
    setting("primary", SettingType::Flag),
    setting("cvv_policy", SettingType::Text),
    setting("avs_policy", SettingType::Text),
    setting("ignore_avs_failure_if_cvv_match", SettingType::Flag),
    setting("required_payment_fields", SettingType::Words),
    setting("swipe_cvv_policy", SettingType::Text),
    setting("swipe_avs_policy", SettingType::Text),
    setting("swipe_ignore_avs_failure_if_cvv_match", SettingType::Flag),
    setting("swipe_required_payment_fields", SettingType::Words),
    setting("transaction_allowed_countries", SettingType::Words),
    setting("accepted_card_types", SettingType::Words),
];

/// Settings of an account that takes electronic checks (service-facts, 69).
pub static BANK_SETTINGS: [RemoteSetting; 3] = [
    setting("name", SettingType::Name),
    setting("primary", SettingType::Flag),
    setting("transaction_allowed_countries", SettingType::Words),
];

pub static METHOD_TEXTS: [RemoteSetting; 2] =
    [setting("description", SettingType::Text), setting("reference", SettingType::Text)];

/// Parts of a card that a recurring charge takes without a new number (gateway-api, PATCH
/// /v1/recurring/charges/{id}).
pub(crate) const CARD_DATE: [&str; 2] = ["exp_month", "exp_year"];

/// Settings of a recurring charge. Of its method that is only a card's new date: another number
/// needs its document, or a new charge.
pub static RECURRING_SETTINGS: [RemoteSetting; 6] = [
    setting("description", SettingType::Text),
    setting("amount", SettingType::Amount),
    setting("max_amount", SettingType::Amount),
    setting("max_occurrences", SettingType::Count),
    setting(CARD_DATE[0], SettingType::Month),
    setting(CARD_DATE[1], SettingType::Year),
];

/// Returns whether the fields of a change set a card's date and nothing else.
pub fn sets_date_alone(fields: &Value) -> bool {
    let set = fields.get("set").and_then(Value::as_object);
    set.is_some_and(|set| {
        !set.is_empty() && set.keys().all(|name| CARD_DATE.contains(&name.as_str()))
    })
}

impl RemoteSetting {
    /// Parses the value of a text; the error is the required form.
    pub fn value(&self, text: &str) -> Result<Value, String> {
        let value = match (self.value_type, text) {
            (SettingType::Flag, "true") => json!(true),
            (SettingType::Flag, "false") => json!(false),
            (SettingType::Amount, text) => {
                text.parse::<Money>().map_or(Value::Null, |money| json!(money))
            }
            (SettingType::Count | SettingType::Month | SettingType::Year, text) => {
                text.parse::<u32>().map_or(Value::Null, |count| json!(count))
            }
            (
                SettingType::Flag | SettingType::Text | SettingType::Name | SettingType::Words,
                text,
            ) => json!(text),
        };
        self.type_error(&value).map_or(Ok(value), Err)
    }

    /// Returns the reason why the setting cannot hold this value, if any.
    fn type_error(&self, value: &Value) -> Option<String> {
        let fits = match self.value_type {
            SettingType::Flag => value.is_boolean(),
            SettingType::Text | SettingType::Words => value.is_string(),
            SettingType::Name => value.as_str().is_some_and(|text| !text.trim().is_empty()),
            SettingType::Amount => Money::deserialize(value).is_ok(),
            SettingType::Count => is_within(value, 1, u64::from(u32::MAX)),
            SettingType::Month => is_within(value, 1, 12),
            SettingType::Year => is_within(value, 1000, 9999),
        };
        (!fits).then(|| format!("`{}` is {}", self.name, self.value_type.words()))
    }

    /// Returns whether an answered value means the requested one. The service omits empty and false
    /// values (service-facts, 8).
    fn means_same(&self, asked: &Value, answered: &Value) -> bool {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        match self.value_type {
            SettingType::Flag => asked.as_bool() == Some(answered.as_bool().unwrap_or_default()),
            SettingType::Text | SettingType::Name => text(asked) == text(answered),
            SettingType::Words => words(&text(asked)) == words(&text(answered)),
            SettingType::Amount | SettingType::Count | SettingType::Month | SettingType::Year => {
                asked == answered
            }
        }
    }
}

impl SettingType {
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

fn find_setting(settings: &'static [RemoteSetting], name: &str) -> Option<&'static RemoteSetting> {
    settings.iter().find(|setting| setting.name == name)
}

/// Checks that every entry of `set` can be set; the error names all problems.
pub(crate) fn check(
    settings: &'static [RemoteSetting],
    set: &Map<String, Value>,
) -> Result<(), String> {
    if set.is_empty() {
        return Err("nothing is named that is to be set".to_owned());
    }
    let wrong = |(name, value): (&String, &Value)| match find_setting(settings, name) {
        Some(setting) => setting.type_error(value),
        None => Some(format!("there is no `{name}` to set")),
    };
    let wrong: Vec<String> = set.iter().filter_map(wrong).collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ")) }
}

/// Returns a sentence for each setting that an object does not show as it was set.
pub(crate) fn mismatched_settings(
    settings: &'static [RemoteSetting],
    set: &Value,
    shown: &Value,
) -> Vec<String> {
    let set = set.as_object().into_iter().flatten();
    let differs = |(name, asked): (&String, &Value)| {
        let answered = shown.get(name).unwrap_or(&Value::Null);
        let same =
            find_setting(settings, name).is_some_and(|setting| setting.means_same(asked, answered));
        (!same)
            .then(|| format!("{name}: asked {asked}, answered {}", expect::render_value(answered)))
    };
    set.filter_map(differs).collect()
}

#[cfg(test)]
mod tests {
    use schemars::schema_for;
    use std::collections::BTreeSet;

    use super::*;
    use crate::api::merchant::{AccountChange, MerchantChange};

    fn names(settings: &[RemoteSetting]) -> BTreeSet<String> {
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
        let value =
            |name: &str, text: &str| find_setting(&CARD_SETTINGS, name).unwrap().value(text);
        assert_eq!(value("primary", "true"), Ok(json!(true)));
        assert_eq!(value("primary", "yes"), Err("`primary` is true or false".to_owned()));
        assert_eq!(value("name", "true"), Ok(json!("true")));
        assert_eq!(value("name", " "), Err("`name` is a text that is not blank".to_owned()));
        assert_eq!(value("accepted_card_types", ""), Ok(json!("")), "all of them");
        let value =
            |name: &str, text: &str| find_setting(&RECURRING_SETTINGS, name).unwrap().value(text);
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
        let same =
            |set: Value, shown: Value| mismatched_settings(&CARD_SETTINGS, &set, &shown).is_empty();
        let cards = |text: &str| json!({ "accepted_card_types": text });
        assert!(same(cards("VISA, jcb"), cards("JCB,VISA")));
        assert!(same(cards("*"), json!({})));
        assert!(!same(cards("VISA"), cards("*")));
        assert!(same(json!({"primary": false}), json!({})));
        assert!(!same(json!({"primary": true}), json!({})));
        assert!(!same(json!({"name": "Till"}), json!({"name": "till"})));
        let told =
            mismatched_settings(&CARD_SETTINGS, &json!({"name": "Till"}), &json!({"name": "Main"}));
        assert_eq!(told, [r#"name: asked "Till", answered "Main""#]);
    }
}
