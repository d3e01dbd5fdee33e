//! One-time tokens (gateway-api, POST /v1/tokens; service-facts, part 5).
//!
//! Creation validates nothing; the charge that uses the token reports its problems.

use chrono::TimeDelta;
use http::StatusCode;
use serde_json::{Map, Value};

use crate::api::call::Auth;
use crate::api::method::PaymentMethod;
use crate::api::method_token::{MethodRef, TOKEN_LIFE_MINUTES};
use crate::api::rules::has_word;
use crate::sandbox::answer::{Result, SandboxAnswer, SandboxRefusal};
use crate::sandbox::body;
use crate::sandbox::merchants::auth;
use crate::sandbox::methods::payment_methods::{
    MethodInternals, StoredPaymentMethod, bank_details, card_details,
};
use crate::sandbox::request::{ParsedRequest, SandboxCaller};
use crate::sandbox::state::objects::{ObjectKind, ObjectOwner, Stored, TimerEntry};
use crate::sandbox::state::store::ChangeUnit;

/// A method's own fields; other fields are returned under `form_data`.
pub(crate) const METHOD_FIELDS: &str = "\
    type number cvv exp_month exp_year name address1 address2 city state postal_code country phone \
    email card_type routing_number account_number account_type account_holder_type given_name \
    surname reference description form_data redirect_url public_key bank_name";

/// Maximum lengths; longer values are cut (service-facts, 37).
const FIELD_LENGTHS: [(&str, usize); 7] = [
    ("number", 19),
    ("cvv", 4),
    ("name", 64),
    ("address1", 64),
    ("address2", 64),
    ("city", 64),
    ("postal_code", 10),
];

/// POST /v1/tokens: JSON or a form.
pub(crate) fn create(cx: &mut ChangeUnit, asked: &ParsedRequest) -> Result<SandboxAnswer> {
    let body = if asked.is_form() { asked.form() } else { asked.json()? };
    let Value::Object(body) = body else {
        return Err(SandboxRefusal::malformed_body("Body is not an object"));
    };
    let key = body.get("public_key").and_then(Value::as_str).filter(|_| asked.is_form());
    let owner = caller(cx, asked, key)?;
    let redirect = body.get("redirect_url").and_then(Value::as_str).map(str::to_owned);
    let form_data = form_data(&body, asked.is_form());
    let method: MethodRef = read_method(body)?;
    let token = store(cx, &owner, method, form_data)?;
    match redirect.filter(|_| asked.is_form()) {
        None => SandboxAnswer::json(&token),
        Some(url) => {
            let joint = if url.contains('?') { '&' } else { '?' };
            let id = token.id.unwrap_or_default();
            let location = format!("{url}{joint}token_id={id}");
            Ok(SandboxAnswer::redirect(StatusCode::SEE_OTHER, &location))
        }
    }
}

/// Authenticates by the header, or by a form's `public_key` (service-facts, 38).
fn caller(cx: &ChangeUnit, asked: &ParsedRequest, in_form: Option<&str>) -> Result<ObjectOwner> {
    match (auth::admit(cx, Auth::PublicKey, asked.headers()), in_form) {
        (Ok(SandboxCaller::Key { owner, account: _ }), _) => Ok(owner),
        (Ok(_) | Err(_), Some(key)) => {
            let entry = auth::by_key(cx, key)?;
            auth::refuse_secret_from_page(entry.kind, asked.headers())?;
            Ok(entry.owner)
        }
        (Ok(_), None) => Err(SandboxRefusal::not_authorized()),
        (Err(refusal), None) => Err(refusal),
    }
}

/// Collects the extra fields (gateway-api, POST /v1/tokens). A JSON body's `form_data` may itself
/// hold some of them, or be another value, which is kept unchanged (service-facts, 38).
fn form_data(body: &Map<String, Value>, form: bool) -> Option<Value> {
    let given = body.get("form_data").filter(|data| !form && !data.is_null());
    let is_extra = |name: &str, value: &Value| !has_word(METHOD_FIELDS, name) && !value.is_null();
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
fn read_method(body: Map<String, Value>) -> Result<MethodRef> {
    let mut fields = body::normalise_object(body);
    for (name, most) in FIELD_LENGTHS {
        if let Some(Value::String(text)) = fields.get_mut(name) {
            if name == "postal_code" {
                text.retain(|c| c.is_ascii_alphanumeric() || c == ' ' || c == '-');
            }
            *text = text.chars().take(most).collect();
        }
    }
    fields.retain(|name, value| match name.as_str() {
        "country" => value.as_str().is_some_and(|code| code.len() == 2),
        name => !name.starts_with("exp_") || value.is_i64(),
    });
    serde_path_to_error::deserialize(Value::Object(fields)).map_err(|error| {
        SandboxRefusal::field(&error.path().to_string(), "invalid", "Value is invalid")
    })
}

fn store(
    cx: &mut ChangeUnit,
    owner: &ObjectOwner,
    method: MethodRef,
    form_data: Option<Value>,
) -> Result<PaymentMethod> {
    let method = match method {
        MethodRef::Card(card) => card_details(cx, *card),
        MethodRef::Bank(bank) => bank_details(cx, *bank),
        MethodRef::Id(_) => return Err(SandboxRefusal::malformed_body("Body is not an object")),
    };
    let sequence = cx.next();
    let id = cx.fresh_gateway_id();
    let token = PaymentMethod { form_data, cvv: method.in_events().cvv, ..method.saved_as(&id) };
    let end = TimerEntry::TokenExpiry { id: id.clone() };
    cx.schedule_in(TimeDelta::minutes(TOKEN_LIFE_MINUTES), &end)?;
    let (owner, internal) = (owner.clone(), MethodInternals::from(method));
    let kept = Stored { owner, sequence, object: token.clone(), internal };
    cx.create(ObjectKind::TOKEN, &kept.owner.key(), &id, &kept)?;
    Ok(token)
}

pub(crate) fn get(cx: &mut ChangeUnit, asked: &ParsedRequest) -> Result<PaymentMethod> {
    Ok(find(cx, &asked.owner()?, asked.parameter(0))?.object)
}

/// Returns a token that is neither used nor expired.
pub(crate) fn find(cx: &ChangeUnit, owner: &ObjectOwner, id: &str) -> Result<StoredPaymentMethod> {
    cx.find(ObjectKind::TOKEN, owner, id)
}

pub(crate) fn end(cx: &mut ChangeUnit, id: &str) -> Result<()> {
    let kept: Option<StoredPaymentMethod> = cx.look_up(ObjectKind::TOKEN, id)?;
    if let Some(kept) = kept {
        cx.delete(ObjectKind::TOKEN, &kept.owner.key(), id, kept.sequence);
    }
    Ok(())
}
