//! Event of a run as a script gets it, and removal of secret and personal values from events,
//! answers of the service and documents, before a script sees them.
//!
//! Secret values never reach a script, whatever the configuration says. Personal values (names,
//! addresses, e-mail, phone) reach it if `policy.scripts` opens them for the event's merchant.
//! Closed values are omitted.

use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use foldhash::HashMap;
use rhai::{Array, Dynamic, ImmutableString, Map};
use serde_json::Value;

use crate::base::id::Key;
use crate::base::secret::masked;
use crate::kinds::register::{self, KINDS};
use crate::kinds::schema::kind::{Privacy, SpecField};
use crate::kinds::secrets::{field_of, without_private};
use crate::scripting::language::json::{parse_untrusted, to_json, untrusted_to_dynamic};
use crate::scripting::language::names::EVENT_FIELDS;
use crate::scripting::language::values::ScriptMoment;

/// An event as a script gets it, with every field. `Debug` omits the fields, since they hold names
/// and addresses.
#[derive(derive_more::Debug)]
#[debug("ScriptEvent({:?})", origin.merchant)]
pub struct ScriptEvent {
    fields: Map,
    origin: EventOrigin,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct EventOrigin {
    /// The merchant; `None` if no document declares it.
    pub(crate) merchant: Option<Key>,
    /// Set in live mode.
    pub(crate) live: bool,
    pub(crate) created: Option<DateTime<Utc>>,
}

impl EventOrigin {
    pub(crate) fn from_event(event: &Value) -> Self {
        let live = event.get("mode").and_then(Value::as_str) == Some("live");
        let created = event.get("created").and_then(Value::as_str);
        let created =
            created.and_then(|text| ScriptMoment::parse(text).ok()).map(|ScriptMoment(at)| at);
        let merchant = event.get("merchant").and_then(Value::as_str);
        let merchant = merchant.and_then(|name| format!("Merchant/{name}").parse().ok());
        Self { merchant, live, created }
    }
}

impl ScriptEvent {
    /// Returns an event of these fields; every other field of [`FIELDS`] is null.
    pub fn new(event: &Value) -> Self {
        let field = |name: &str| {
            (name.into(), untrusted_to_dynamic(event.get(name).unwrap_or(&Value::Null)))
        };
        let fields = EVENT_FIELDS.iter().map(|known| field(known.name)).collect();
        Self { fields, origin: EventOrigin::from_event(event) }
    }

    /// Returns an event whose `data` is the record in the service's own JSON text. The reason of a
    /// declined application is added to the record. A text that is not an event gives no record.
    pub fn with_record(event: &Value, text: &[u8]) -> Self {
        let mut given = Self::new(event);
        let told = parse_untrusted(text).and_then(Dynamic::try_cast::<Map>);
        given.fields.insert("data".into(), told.map_or(Dynamic::UNIT, event_record));
        given
    }

    /// Returns the argument of the script's function, and the origin of the event.
    pub(crate) fn into_parts(self) -> (Dynamic, EventOrigin) {
        (Dynamic::from_map(self.fields), self.origin)
    }
}

fn event_record(mut event: Map) -> Dynamic {
    let (data, reason) = (event.remove("data").unwrap_or_default(), event.remove("reason"));
    let Some(reason) = reason.filter(|_| data.is_map()) else { return data };
    let mut data = data.try_cast::<Map>().unwrap_or_default();
    data.insert("reason".into(), reason);
    Dynamic::from_map(data)
}

/// Digits of a masked number that may be visible.
const SHOWN_DIGITS: usize = 4;

/// Names of secret values that no document has.
const SECRET: [&str; 7] =
    ["cvv", "client_secret", "refresh_token", "ssn", "tax_id", "birth_date", "signature"];

/// Names of personal values, in any record of the service.
const PERSONAL: &str = "first_name last_name middle_name name_prefix given_name surname address address1 address2 \
    additional_address addresses zip postal_code phone phones email email_address \
    email_addresses contact_name contact_email contact_phone form_data";

/// Names of personal values only in the record of a person or a payment method.
const PERSONAL_IN_PERSON: [&str; 4] = ["name", "city", "state", "country"];

/// Fields that only the record of a person or a payment method has.
const PERSON_FIELDS: [&str; 8] = [
    "given_name",
    "first_name",
    "address1",
    "postal_code",
    "fingerprint",
    "exp_month",
    "routing_number",
    "email_addresses",
];

/// The reasons why a field is private.
#[derive(Debug, Clone, Copy, Default)]
struct PrivateName {
    secret: bool,
    personal: bool,
}

/// Names of every secret and personal field of documents, without the names above that depend on
/// their record.
static NAMES: LazyLock<HashMap<&'static str, PrivateName>> = LazyLock::new(|| {
    let mut names: HashMap<_, PrivateName> = HashMap::default();
    let named = |privacy| {
        let fields = KINDS.iter().flat_map(|row| row.fields);
        let fields = fields.filter(move |field| field.privacy == privacy);
        fields.filter_map(|field| field.path.rsplit(['.', ']']).next())
    };
    let words = |name: &&str| !name.is_empty() && !PERSONAL_IN_PERSON.contains(name);
    for name in named(Privacy::Secret).chain(SECRET).filter(words) {
        names.entry(name).or_default().secret = true;
    }
    for name in named(Privacy::Personal).chain(PERSONAL.split(' ')).filter(words) {
        names.entry(name).or_default().personal = true;
    }
    names
});

/// Removes the private values from a record of the service. `also` is one more secret name.
pub(crate) fn remove_private(value: &mut Dynamic, personal: bool, also: Option<&str>) {
    if let Some(mut items) = value.write_lock::<Array>() {
        items.iter_mut().for_each(|item| remove_private(item, personal, also));
        return;
    }
    let Some(mut fields) = value.write_lock::<Map>() else { return };
    let person = PERSON_FIELDS.iter().any(|mark| fields.contains_key(*mark));
    fields.retain(|name, value| {
        let name = name.as_str();
        let known = NAMES.get(name).copied().unwrap_or_default();
        if Some(name) == also || (known.secret && !is_masked(value)) {
            return false;
        }
        if !personal && (known.personal || (person && PERSONAL_IN_PERSON.contains(&name))) {
            return false;
        }
        remove_private(value, personal, also);
        mask_card_numbers(name, value);
        true
    });
}

/// Returns a record of the service without secret and personal values, as people are shown it.
pub(crate) fn record_without_private(record: &Value) -> Value {
    let mut shown = untrusted_to_dynamic(record);
    remove_private(&mut shown, false, None);
    to_json(&shown).unwrap_or_default()
}

/// Removes the private values from a run's event: from its record, and from the earlier version of
/// the record.
pub(crate) fn remove_private_of_event(event: &mut Dynamic, personal: bool) {
    let Some(mut fields) = event.write_lock::<Map>() else { return };
    for name in ["data", "previous"] {
        if let Some(record) = fields.get_mut(name) {
            remove_private(record, personal, None);
        }
    }
}

/// Returns true if a value shows at most the last digits of the real one.
fn is_masked(value: &Dynamic) -> bool {
    let Ok(text) = value.as_immutable_string_ref() else { return value.is_unit() };
    let digits = text.chars().filter(char::is_ascii_digit).count();
    text.is_empty() || (text.contains(['*', '•']) && digits <= SHOWN_DIGITS)
}

/// Masks card numbers in texts; ids are excluded.
fn mask_card_numbers(name: &str, value: &mut Dynamic) {
    if name == "id" || name.ends_with("_id") || name.ends_with("key") || name == "fingerprint" {
        return;
    }
    let masked = value.as_immutable_string_ref().ok().and_then(|text| masked(&text));
    if let Some(masked) = masked {
        *value = Dynamic::from(ImmutableString::from(masked));
    }
}

/// Returns a resource as scripts see it, or a list of resources, without closed values.
pub(crate) fn resource_without_private(mut seen: Value, personal: bool) -> Value {
    if let Value::Array(items) = seen {
        return items.into_iter().map(|item| resource_without_private(item, personal)).collect();
    }
    let row = seen.get("kind").and_then(Value::as_str).and_then(register::find);
    if let (Some(row), Some(spec)) = (row, seen.get_mut("spec")) {
        let shows: fn(Privacy) -> bool =
            if personal { |of| of != Privacy::Secret } else { |of| of == Privacy::Plain };
        *spec = without_private(row.fields, spec, shows);
    }
    seen
}

/// Returns the privacy of a field below `spec` that a script names.
pub(crate) fn privacy_of_field(fields: &[SpecField], path: &str) -> Privacy {
    field_of(fields, path).map_or(Privacy::Plain, |field| field.privacy)
}

/// Returns the privacy of a private value's name; `None` for any other name.
pub(crate) fn privacy_of_name(name: &str) -> Option<Privacy> {
    let known = NAMES.get(name).copied().unwrap_or_default();
    if known.secret {
        Some(Privacy::Secret)
    } else {
        (known.personal || PERSONAL_IN_PERSON.contains(&name)).then_some(Privacy::Personal)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::scripting::language::json::{to_json as written, untrusted_to_dynamic};

    #[test]
    fn a_record_is_the_same_whichever_way_it_is_read() {
        let records = [
            json!({"id": "t1", "amount": 12500, "big": u64::MAX, "less": -3, "is": true, "none": null}),
            json!({"list": [1, "two", {"three": []}], "{{a": "{{{intake:x}}}", "rate": 1.5}),
            json!([1, 2]),
            json!("{{text"),
            Value::Null,
        ];
        let mut texts: Vec<Value> = records.iter().map(|data| json!({"data": data})).collect();
        texts.extend(
            records.iter().map(|data| json!({"data": data, "reason": "too {{new", "x": 1})),
        );
        texts.extend([json!({"reason": "no data"}), json!({"data": {"a": 1}, "reason": null})]);
        for text in texts {
            let mut data = text.get("data").cloned().unwrap_or_default();
            if let (Some(data), Some(reason)) = (data.as_object_mut(), text.get("reason")) {
                data.insert("reason".to_owned(), reason.clone());
            }
            let slow = ScriptEvent::new(&json!({"id": "e1", "merchant": "acme", "data": data}));
            let event = json!({"id": "e1", "merchant": "acme"});
            let quick = ScriptEvent::with_record(&event, text.to_string().as_bytes());
            let shown = |given: ScriptEvent| written(&given.into_parts().0).unwrap();
            assert_eq!(shown(quick), shown(slow), "{text}");
        }
    }

    #[test]
    fn a_text_that_is_no_event_shows_no_record() {
        for text in ["", "{", "[]", "7", "{\"data\": 1} x"] {
            let (fields, _) = ScriptEvent::with_record(&json!({}), text.as_bytes()).into_parts();
            assert_eq!(
                written(&fields).unwrap(),
                written(&ScriptEvent::new(&json!({})).into_parts().0).unwrap()
            );
        }
    }

    fn closed(value: &Value, personal: bool) -> Value {
        let mut value = untrusted_to_dynamic(value);
        remove_private(&mut value, personal, Some("data"));
        written(&value).unwrap()
    }

    #[test]
    fn s7_records_of_the_service_lose_what_is_secret_and_what_is_not_opened() {
        let record = json!({"id": "411111111111111100001", "name": "Rent", "state": "ACTIVE", "data": "strokes",
            "method": {"id": "c1", "name": "Jane Doe", "number": "************4242", "cvv": "123", "exp_month": 12,
                "city": "Austin", "email": "jane@x.example", "account_number": "99887766"},
            "accounts": [{"secret_key": "sk_1", "public_key": "pk_1"}],
            "reference": "card 4242 4242 4242 4242", "federal_tax_id": "12-3456789"});
        let open = json!({"id": "411111111111111100001", "name": "Rent", "state": "ACTIVE",
            "method": {"id": "c1", "name": "Jane Doe", "number": "************4242", "exp_month": 12,
                "city": "Austin", "email": "jane@x.example"},
            "accounts": [{"public_key": "pk_1"}], "reference": "card •••• 4242"});
        assert_eq!(closed(&record, true), open);
        let mut plain = open;
        plain["method"] = json!({"id": "c1", "number": "************4242", "exp_month": 12});
        assert_eq!(closed(&record, false), plain);
    }

    #[test]
    fn s7_documents_lose_the_same() {
        let seen = json!([{"kind": "SavedMethod", "spec": {"type": "card", "source": {"card": {
            "number": "4242424242424242", "name": "Jane Doe", "exp_month": 12}}}},
            {"kind": "MerchantApplication", "spec": {"email": "jane@x.example", "owner_social_security_number": "123-45-6789"}}]);
        let open = resource_without_private(seen.clone(), true);
        assert_eq!(open[0]["spec"]["source"]["card"], json!({"name": "Jane Doe", "exp_month": 12}));
        assert_eq!(open[1]["spec"], json!({"email": "jane@x.example"}));
        let plain = resource_without_private(seen, false);
        assert_eq!(plain[0]["spec"]["source"]["card"], json!({"exp_month": 12}));
        assert_eq!(plain[1]["spec"], json!({}));
        assert_eq!(resource_without_private(Value::Null, false), Value::Null);
    }
}
