//! Requirements of an account for card payments: fields that must be present, and accepted brands
//! (partner-api, `required_payment_fields` and `accepted_card_types`).

use super::policy::MerchantPolicy;
use crate::api::rules::FieldProblems;
use crate::sandbox::http::refusal::SandboxRefusal;
use crate::sandbox::methods::payment_methods::StoredMethod;

/// Fields that an account may require.
pub(crate) const FIELDS: [&str; 8] =
    ["cvv", "name", "address1", "city", "state", "postal_code", "email", "phone"];

/// Refuses with 422 a message for each missing field. A saved method stores no CVV, so it needs
/// none.
pub(crate) fn need_fields(
    policy: &MerchantPolicy,
    account: &str,
    method: &StoredMethod,
    is_saved: bool,
) -> Result<(), SandboxRefusal> {
    let Some(wanted) = policy.required_fields.get(account).filter(|_| method.is_card()) else {
        return Ok(());
    };
    let mut problems = FieldProblems::default();
    for field in wanted.iter().filter(|field| !has(method, field, is_saved)) {
        problems.add(field, "not_blank", &format!("{} cannot be blank", field_name(field)));
    }
    SandboxRefusal::fields("method", &problems.into_list())
}

fn has(method: &StoredMethod, field: &str, is_saved: bool) -> bool {
    let shown = &method.shown;
    let given = |text: &Option<String>| text.as_deref().is_some_and(|text| !text.trim().is_empty());
    match field {
        "cvv" => method.has_cvv || is_saved,
        "name" => given(&shown.name),
        "address1" => given(&shown.address1),
        "city" => given(&shown.city),
        "state" => given(&shown.state),
        "postal_code" => given(&shown.postal_code),
        "email" => given(&shown.email),
        "phone" => given(&shown.phone),
        _ => true,
    }
}

/// Returns the name of a field in its message (service-facts, part 2).
fn field_name(field: &str) -> &'static str {
    match field {
        "cvv" => "Card code",
        "name" => "Name",
        "address1" => "Street number",
        "city" => "City",
        "state" => "State or province",
        "postal_code" => "Postal code",
        "email" => "Email",
        _ => "Phone",
    }
}

/// Makes a payment by a brand fail that the account does not accept.
pub(crate) fn deny_by_brand(policy: &MerchantPolicy, account: &str, method: &mut StoredMethod) {
    let Some(taken) = policy.card_types.get(account).filter(|taken| !taken.is_empty()) else {
        return;
    };
    let brand = method.shown.card_type.as_ref().map(|brand| brand.as_str().to_owned());
    if brand.is_some_and(|brand| !taken.contains(&brand)) && method.class.failure.is_none() {
        method.class.failure = Some("card_type_not_accepted".to_owned());
    }
}

/// Parses a comma-separated list; `*` and empty words are dropped.
pub(crate) fn parse_list(text: &str) -> std::collections::BTreeSet<String> {
    let words = text.split(',').map(str::trim).filter(|word| !word.is_empty() && *word != "*");
    words.map(str::to_owned).collect()
}
