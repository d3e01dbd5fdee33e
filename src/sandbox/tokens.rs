//! One-time tokens (gateway-api, POST /v1/tokens; service-facts, part 5).
//!
//! Creation validates nothing; the charge that uses the token reports its problems.

use chrono::TimeDelta;
use http::StatusCode;
use serde_json::{Map, Value};

use crate::api::Auth;
use crate::api::method::{MethodRef, PaymentMethod};
use crate::api::one_time_token::TOKEN_LIFE_MINUTES;
use crate::sandbox::answer::Answer;
use crate::sandbox::asked::{Asked, Caller};
use crate::sandbox::auth;
use crate::sandbox::due::{self, Due};
use crate::sandbox::lenient;
use crate::sandbox::lists::{Kept, KindOf, Owner};
use crate::sandbox::methods::{KeptMethod, keep_bank, keep_card};
use crate::sandbox::refusal::Refusal;
use crate::sandbox::state::Cx;

pub(crate) const KIND: KindOf = KindOf { word: "token", name: "Token" };

/// A method's own fields; other fields are returned under `form_data`.
pub(crate) const OWN: [&str; 27] = [
    "type",
    "number",
    "cvv",
    "exp_month",
    "exp_year",
    "name",
    "address1",
    "address2",
    "city",
    "state",
    "postal_code",
    "country",
    "phone",
    "email",
    "card_type",
    "routing_number",
    "account_number",
    "account_type",
    "account_holder_type",
    "given_name",
    "surname",
    "reference",
    "description",
    "form_data",
    "redirect_url",
    "public_key",
    "bank_name",
];

/// Maximum lengths; longer values are cut (service-facts, 37).
const CUTS: [(&str, usize); 7] = [
    ("number", 19),
    ("cvv", 4),
    ("name", 64),
    ("address1", 64),
    ("address2", 64),
    ("city", 64),
    ("postal_code", 10),
];

/// POST /v1/tokens: JSON or a form.
pub(crate) fn create(cx: &mut Cx<'_>, asked: &Asked) -> Result<Answer, Refusal> {
    let body = if asked.is_form() { asked.form() } else { asked.json()? };
    let Value::Object(body) = body else {
        return Err(Refusal::malformed("Body is not an object"));
    };
    let owner = caller(cx, asked, &body)?;
    let redirect = body.get("redirect_url").and_then(Value::as_str).map(str::to_owned);
    let form_data = form_data(&body, asked.is_form());
    let method: MethodRef = read_method(body)?;
    let token = store(cx, &owner, method, form_data)?;
    match redirect.filter(|_| asked.is_form()) {
        None => Answer::json(&token),
        Some(url) => {
            let joint = if url.contains('?') { '&' } else { '?' };
            let id = token.id.unwrap_or_default();
            let location = format!("{url}{joint}token_id={id}");
            Ok(Answer::redirect(StatusCode::SEE_OTHER, &location))
        }
    }
}

/// Authenticates by the header, or by a form's `public_key` (service-facts, 38).
fn caller(cx: &Cx<'_>, asked: &Asked, body: &Map<String, Value>) -> Result<Owner, Refusal> {
    let in_form = body.get("public_key").and_then(Value::as_str).filter(|_| asked.is_form());
    match (auth::admit(cx, Auth::PublicKey, &asked.headers), in_form) {
        (Ok(Caller::Key { owner, account: _ }), _) => Ok(owner),
        (Ok(_) | Err(_), Some(key)) => {
            let entry = auth::by_key(cx, key)?;
            auth::stay_secret(&entry, &asked.headers)?;
            Ok(entry.owner)
        }
        (Ok(_), None) => Err(Refusal::not_authorized()),
        (Err(refusal), None) => Err(refusal),
    }
}

/// Collects the extra fields (gateway-api, POST /v1/tokens). A JSON body's `form_data` may itself
/// hold some of them, or be another value, which is kept unchanged (service-facts, 38).
fn form_data(body: &Map<String, Value>, form: bool) -> Option<Value> {
    let given = body.get("form_data").filter(|data| !form && !data.is_null());
    let is_extra = |name: &str, value: &Value| !OWN.contains(&name) && !value.is_null();
    let extra = body.iter().filter(|(name, value)| is_extra(name, value));
    let mut all: Map<String, Value> = match given {
        Some(Value::Object(own)) => own.clone(),
        Some(other) => return Some(other.clone()),
        None => Map::new(),
    };
    all.extend(extra.map(|(name, value)| (name.clone(), value.clone())));
    (given.is_some() || !all.is_empty()).then_some(Value::Object(all))
}

/// Cuts and drops what a token tolerates, then types the rest.
fn read_method(body: Map<String, Value>) -> Result<MethodRef, Refusal> {
    let mut fields = lenient::object(body);
    for (name, most) in CUTS {
        if let Some(Value::String(text)) = fields.get_mut(name) {
            if name == "postal_code" {
                text.retain(|c| c.is_ascii_alphanumeric() || c == ' ' || c == '-');
            }
            *text = text.chars().take(most).collect();
        }
    }
    let no_number = |value: &Value| !value.is_i64();
    fields.retain(|name, value| !(name.starts_with("exp_") && no_number(value)));
    let is_iso = |value: &Value| value.as_str().is_some_and(|code| code.len() == 2);
    fields.retain(|name, value| name != "country" || is_iso(value));
    serde_path_to_error::deserialize(Value::Object(fields))
        .map_err(|error| Refusal::field(&error.path().to_string(), "invalid", "Value is invalid"))
}

fn store(
    cx: &mut Cx<'_>,
    owner: &Owner,
    method: MethodRef,
    form_data: Option<Value>,
) -> Result<PaymentMethod, Refusal> {
    let method = match method {
        MethodRef::Card(card) => keep_card(cx, *card),
        MethodRef::Bank(bank) => keep_bank(cx, *bank),
        MethodRef::Id(_) => return Err(Refusal::malformed("Body is not an object")),
    };
    let sequence = cx.next();
    let id = cx.id();
    let token = PaymentMethod { form_data, ..show(id.clone(), &method) };
    let until = cx.now.checked_add_signed(TimeDelta::minutes(TOKEN_LIFE_MINUTES));
    let end = Due::TokenExpiry { id: id.clone() };
    due::schedule(cx, until.unwrap_or(cx.now), &end)?;
    let kept = Kept { owner: owner.clone(), sequence, object: token.clone(), inside: method };
    cx.create(KIND, &owner.key(), &id, &kept)?;
    Ok(token)
}

fn show(id: String, method: &KeptMethod) -> PaymentMethod {
    PaymentMethod {
        id: Some(id),
        reference: method.reference.clone(),
        description: method.description.clone(),
        ..method.in_events()
    }
}

/// GET /v1/tokens/{id}.
pub(crate) fn get(cx: &mut Cx<'_>, asked: &Asked) -> Result<PaymentMethod, Refusal> {
    Ok(find(cx, &asked.owner()?, asked.parameter(0))?.object)
}

/// Returns a token that is neither used nor expired.
pub(crate) fn find(
    cx: &Cx<'_>,
    owner: &Owner,
    id: &str,
) -> Result<Kept<PaymentMethod, KeptMethod>, Refusal> {
    cx.find(KIND, owner, id)
}

/// Deletes a token that was used or has expired.
pub(crate) fn end(cx: &mut Cx<'_>, id: &str) -> Result<(), Refusal> {
    let kept: Option<Kept<PaymentMethod, KeptMethod>> = cx.any(KIND, id)?;
    match kept {
        Some(kept) => cx.delete(KIND, &kept.owner.key(), id, kept.sequence),
        None => Ok(()),
    }
}
