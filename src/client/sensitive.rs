//! The values of a call that no answer may repeat: its credential, and the content of its path,
//! query and body.
//!
//! Fields are identified by their names on the wire. A field that no table names counts as
//! personal: only values listed as open may be repeated.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderValue;
use serde_json::Value;

use crate::api::call::{Call, Endpoint};
use crate::api::method_token::GetToken;
use crate::api::onboarding::fields;
use crate::api::rules::has_word;
use crate::base::outside_text::known::KnownValues;

/// Fields of the service's own words, of money, dates, names of objects and our marks.
const OPEN: &str = "\
    type currency amount total_amount first_amount surcharge_amount gratuity quantity rate_type \
    rate_per_quantity status state interval_unit interval_delay days start end max_occurrences \
    max_amount card_type account_type account_holder_type payment_type authorized_uses test_mode \
    scope grant_type auto_capture invoice_date due_date timezone source_id reference account_id \
    contact_id bank_account_id charge_id recurring_charge_id owner_id plan page page_size sort \
    sort_by order cvv_policy avs_policy accepted_card_types required_payment_fields \
    transaction_allowed_countries host owner_title job_title structure business_type industry_code \
    mime_type";

/// Parts of the names of fields that hold names of people and places.
const NAMES: &[&str] = &["name", "address", "city", "street"];

/// Names of fields that hold secrets, and the ends of such names.
const SECRETS: &str = "\
    number cvv code secret token token_id ssn tax_id ein license signature birth password key data \
    one_time_token client_secret content";

/// The privacy of a field's values.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FieldPrivacy {
    Open,
    Named,
    Personal,
    Secret,
}

/// Returns the values that an answer to this call must not repeat.
pub(crate) fn sensitive_values(call: &Call, authorization: Option<&HeaderValue>) -> KnownValues {
    let mut known = KnownValues::default();
    let header = authorization.and_then(|header| std::str::from_utf8(header.as_bytes()).ok());
    header.into_iter().for_each(|header| hide_credential(&mut known, header));
    if call.endpoint == GetToken::NAME
        && let Some(token) = call.path.rsplit('/').next()
    {
        known.hide_secret(token);
    }
    for (name, value) in &call.query {
        hide_value(&mut known, field_privacy(name), value);
    }
    let body = call.body.as_deref().and_then(|body| serde_json::from_slice(body).ok());
    hide_all(&mut known, FieldPrivacy::Personal, &body.unwrap_or(Value::Null));
    known
}

/// Hides a header's credential: a token, or a key in base64.
fn hide_credential(known: &mut KnownValues, header: &str) {
    let Some((_, credential)) = header.split_once(' ') else { return };
    known.hide_secret(credential);
    let pair = STANDARD.decode(credential).ok().and_then(|pair| String::from_utf8(pair).ok());
    if let Some(key) = pair.as_deref().and_then(|pair| pair.split(':').next()) {
        known.hide_secret(key);
    }
}

/// Hides every value of a body; `around` is the sort of the field that holds it.
fn hide_all(known: &mut KnownValues, around: FieldPrivacy, value: &Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                hide_all(known, field_privacy(name), value);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| hide_all(known, around, item)),
        Value::String(text) => hide_value(known, around, text),
        Value::Number(number) => hide_value(known, around, &number.to_string()),
        Value::Null | Value::Bool(_) => {}
    }
}

fn hide_value(known: &mut KnownValues, sort: FieldPrivacy, value: &str) {
    match sort {
        FieldPrivacy::Open => {}
        FieldPrivacy::Named => known.hide_words(value),
        FieldPrivacy::Personal => known.hide(value),
        FieldPrivacy::Secret => known.hide_secret(value),
    }
}

fn field_privacy(name: &str) -> FieldPrivacy {
    let ends = |end: &str| {
        name.strip_suffix(end).is_some_and(|head| head.is_empty() || head.ends_with('_'))
    };
    let applied = fields::FIELDS.iter().find(|field| field.name == name);
    if has_word(OPEN, name) {
        FieldPrivacy::Open
    } else if applied.is_some_and(|field| field.privacy == fields::ApplicationPrivacy::Secret) {
        FieldPrivacy::Secret
    } else if NAMES.iter().any(|part| name.contains(part)) {
        FieldPrivacy::Named
    } else if SECRETS.split(' ').any(ends) {
        FieldPrivacy::Secret
    } else {
        FieldPrivacy::Personal
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::api::saved_method::CreateCard;
    use crate::base::outside_text::ServiceText;

    /// Closes S2: quoted parts of a request are removed, and the service's own words stay.
    #[test]
    fn what_a_request_carries_is_known() {
        let body = json!({
            "type": "card", "number": "4012000010000", "exp_month": 12, "exp_year": 2031, "cvv": "987", "name": "Jane Doe",
            "address1": "12 Elm Road", "email": "jane@payer.example", "currency": "USD", "reference": "rkabc",
        });
        let call = Call::to::<CreateCard>(&[]).body(body.to_string().into_bytes());
        let key = format!("Basic {}", STANDARD.encode("sk_test_Zx81:"));
        let known = sensitive_values(&call, Some(&HeaderValue::from_str(&key).unwrap()));
        let quoted = format!("card in USD for rkabc: {key} sk_test_Zx81 {body}");
        let told = ServiceText::clean(&quoted, &known).to_string();
        for secret in ["sk_test", "4012", "2031", "987", "Jane", "Doe", "Elm", "payer"] {
            assert!(!told.contains(secret), "{secret}: {told}");
        }
        assert!(told.starts_with("card in USD for rkabc: Basic ***"), "{told}");
    }

    #[test]
    fn every_name_has_its_sort() {
        assert!(
            field_privacy("account_number") == FieldPrivacy::Secret
                && field_privacy("client_secret") == FieldPrivacy::Secret
        );
        assert!(
            field_privacy("first_name") == FieldPrivacy::Named
                && field_privacy("address1") == FieldPrivacy::Named
        );
        assert!(
            field_privacy("currency") == FieldPrivacy::Open
                && field_privacy("phone") == FieldPrivacy::Personal
        );
    }
}
