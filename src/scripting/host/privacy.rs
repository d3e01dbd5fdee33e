//! Removal of secret and personal values from events, answers of the service and documents, before
//! a script sees them.
//!
//! Secret values never reach a script, whatever the configuration says. Personal values (names,
//! addresses, e-mail, phone) reach it if `policy.scripts` opens them for the event's merchant.
//! Closed values are omitted.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use rhai::{Array, Dynamic, ImmutableString, Map};
use serde_json::Value;

use crate::base::secret::mask_digits;
use crate::kinds::register;
use crate::kinds::register::KINDS;
use crate::kinds::schema::kind::{Privacy, SpecField};
use crate::kinds::secrets::redact::{field_of, without_private};

/// Digits of a masked number that may be visible.
const SHOWN_DIGITS: usize = 4;

/// Names of secret values that no document has.
const SECRET: [&str; 7] =
    ["cvv", "client_secret", "refresh_token", "ssn", "tax_id", "birth_date", "signature"];

/// Names of personal values, in any record of the service.
const PERSONAL: [&str; 22] = [
    "first_name",
    "last_name",
    "middle_name",
    "name_prefix",
    "given_name",
    "surname",
    "address",
    "address1",
    "address2",
    "additional_address",
    "addresses",
    "zip",
    "postal_code",
    "phone",
    "phones",
    "email",
    "email_address",
    "email_addresses",
    "contact_name",
    "contact_email",
    "contact_phone",
    "form_data",
];

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

/// Names of every secret and personal field of documents, without the names above that depend on
/// their record.
static NAMES: LazyLock<(BTreeSet<&'static str>, BTreeSet<&'static str>)> = LazyLock::new(|| {
    let named = |privacy| {
        let fields = KINDS.iter().flat_map(|row| row.fields);
        let fields = fields.filter(move |field| field.privacy == privacy);
        fields.filter_map(|field| field.path.rsplit(['.', ']']).next())
    };
    let words = |name: &&str| !name.is_empty() && !PERSONAL_IN_PERSON.contains(name);
    let secret = named(Privacy::Secret).chain(SECRET).filter(words).collect();
    (secret, named(Privacy::Personal).chain(PERSONAL).filter(words).collect())
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
        if Some(name) == also || (NAMES.0.contains(name) && !is_masked(value)) {
            return false;
        }
        if !personal && (NAMES.1.contains(name) || (person && PERSONAL_IN_PERSON.contains(&name))) {
            return false;
        }
        remove_private(value, personal, also);
        mask_card_numbers(name, value);
        true
    });
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
    let masked = value.as_immutable_string_ref().ok().and_then(|text| {
        let masked = mask_digits(&text);
        (masked != text.as_str()).then_some(masked)
    });
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
    let (secret, personal) = &*NAMES;
    if secret.contains(name) {
        Some(Privacy::Secret)
    } else {
        (personal.contains(name) || PERSONAL_IN_PERSON.contains(&name)).then_some(Privacy::Personal)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::scripting::language::json::{to_json as written, untrusted_to_dynamic};

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
