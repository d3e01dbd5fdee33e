//! Stored applications, and the look-ups over all of them.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::states::{Change, State, after};
use crate::api::application::{
    ApplicationFields, ApplicationId, FIELDS, Field, FieldType, Privacy, SECOND_OWNER,
    SECOND_OWNER_FIELDS, Submission, is_test_name,
};
use crate::api::partner_event::DeclineReason;
use crate::api::wire::Timestamp;
use crate::sandbox::ids::named;
use crate::sandbox::lists::{Kept, KindOf, Mode, Owner};
use crate::sandbox::refusal::Refusal;
use crate::sandbox::state::{Cx, ordered};

pub(crate) const KIND: KindOf = KindOf { word: "application", name: "MerchantApplication" };
/// List key: all applications belong to the partner.
const LIST: &str = "partner";
/// First id, so that ids look like those of a service in use.
const ID_BASE: u64 = 100_000;
/// Replaces a secret value.
const MASK: &str = "***";
/// Key that records the one test of the sign-up, even after the test was deleted.
const TEST_TAKEN: &str = "x/application/test";

/// The visible part of an application.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Application {
    pub(crate) id: ApplicationId,
    pub(crate) state: State,
    pub(crate) submission: Submission,
    pub(crate) created: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) submitted: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) decided: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<DeclineReason>,
    pub(crate) reference: String,
    pub(crate) plan: String,
    /// Submitted fields, secrets masked.
    pub(crate) fields: Map<String, Value>,
}

/// The private part, stored beside it.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Inside {
    pub(crate) fields: Map<String, Value>,
    /// Its position among all submissions.
    pub(crate) submission: u64,
}

pub(crate) type Found = Kept<Application, Inside>;

/// Returns a field's trimmed text; empty where there is none.
pub(crate) fn text<'a>(fields: &'a Map<String, Value>, name: &str) -> &'a str {
    fields.get(name).and_then(Value::as_str).unwrap_or_default().trim()
}

/// Returns an id that no application has.
pub(crate) fn fresh_id(cx: &mut Cx<'_>) -> ApplicationId {
    ApplicationId(ID_BASE.saturating_add(cx.next()))
}

/// Stores a new application, not submitted yet.
pub(crate) fn create(
    cx: &mut Cx<'_>,
    submission: Submission,
    fields: Map<String, Value>,
) -> Result<Found, Refusal> {
    let id = fresh_id(cx);
    let object = Application {
        id,
        state: State::Started,
        submission,
        created: Timestamp(cx.now),
        submitted: None,
        decided: None,
        reason: None,
        reference: text(&fields, "reference").to_owned(),
        plan: text(&fields, "plan").to_owned(),
        fields: masked(&fields),
    };
    let owner = Owner { merchant: String::new(), mode: Mode::Live };
    let inside = Inside { fields, submission: 0 };
    let found = Kept { owner, sequence: cx.next(), object, inside };
    cx.create(KIND, LIST, &id.to_string(), &found)?;
    Ok(found)
}

/// Returns the application of this id.
///
/// # Errors
///
/// 404 for no such application.
pub(crate) fn load(cx: &Cx<'_>, id: &str) -> Result<Found, Refusal> {
    cx.any(KIND, id)?.ok_or_else(|| Refusal::missing(KIND.name, id))
}

/// Updates a stored application.
pub(crate) fn store(cx: &mut Cx<'_>, found: &Found) -> Result<(), Refusal> {
    cx.update(KIND, &found.object.id.to_string(), found)
}

/// Deletes an application, as support does with a test.
pub(crate) fn delete(cx: &mut Cx<'_>, id: &str) -> Result<(), Refusal> {
    let found = load(cx, id)?;
    cx.delete(KIND, LIST, id, found.sequence)
}

/// Marks an application as submitted, and stores the keys by which a duplicate is recognised.
pub(crate) fn submit(cx: &mut Cx<'_>, mut found: Found) -> Result<(), Refusal> {
    found.object.state = after(found.object.state, Change::Submit)?;
    let mut fields = ApplicationFields(std::mem::take(&mut found.inside.fields));
    fields.fill_defaults();
    found.inside.fields = fields.0;
    found.object.submitted = Some(Timestamp(cx.now));
    found.object.fields = masked(&found.inside.fields);
    found.inside.submission = cx.next();
    let id = found.object.id.to_string();
    for known in known_by(&found) {
        let key = format!("{}{}", prefix(cx, &known), ordered(found.inside.submission));
        cx.put(&key, &id)?;
    }
    if is_test_name(text(&found.inside.fields, "business_name")) {
        cx.put(TEST_TAKEN, &id)?;
    }
    store(cx, &found)
}

/// Returns true once the one test of the sign-up was submitted.
pub(crate) fn test_taken(cx: &Cx<'_>) -> Result<bool, Refusal> {
    Ok(cx.get::<String>(TEST_TAKEN)?.is_some())
}

/// Returns true if an application with the same reference or tax id was submitted before and not
/// declined.
pub(crate) fn is_repeated(cx: &Cx<'_>, found: &Found) -> Result<bool, Refusal> {
    for known in known_by(found) {
        for (_, id) in cx.scan(&prefix(cx, &known), None, usize::MAX)? {
            let other: Option<Found> = cx.any(KIND, id.as_str().unwrap_or_default())?;
            let counts = |other: Found| {
                other.inside.submission < found.inside.submission
                    && other.object.state != State::Declined
            };
            if other.is_some_and(counts) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Returns the duplicate keys: the reference, and the tax id without punctuation.
fn known_by(found: &Found) -> [String; 2] {
    let tax = text(&found.inside.fields, "federal_tax_id");
    let tax: String = tax.chars().filter(char::is_ascii_alphanumeric).collect();
    [format!("reference {}", found.object.reference), format!("tax {tax}")]
}

fn prefix(cx: &Cx<'_>, known: &str) -> String {
    format!("x/application/of/{}/", named(&cx.world.seed, "application", known))
}

/// Normalises leniently accepted input: drops explicit nulls, and converts numbers and booleans
/// sent as text (service-facts, 9).
pub(crate) fn natural(fields: Map<String, Value>) -> Map<String, Value> {
    present(fields)
        .into_iter()
        .map(|(name, value)| match name.as_str() {
            SECOND_OWNER => (name, natural_second(value)),
            _ => typed(FIELDS, name, value),
        })
        .collect()
}

fn natural_second(value: Value) -> Value {
    let Value::Object(second) = value else { return value };
    second.into_iter().map(|(name, value)| typed(SECOND_OWNER_FIELDS, name, value)).collect()
}

/// Drops null fields, also of the second owner.
pub(crate) fn present(mut fields: Map<String, Value>) -> Map<String, Value> {
    fields.retain(|_, value| !value.is_null());
    if let Some(Value::Object(second)) = fields.get_mut(SECOND_OWNER) {
        second.retain(|_, value| !value.is_null());
    }
    fields
}

fn typed(table: &[Field], name: String, value: Value) -> (String, Value) {
    let of = table.iter().find(|field| field.name == name).map(|field| field.of);
    let value = match (of, value) {
        (Some(FieldType::Integer(..)), Value::String(text)) => {
            text.trim().parse::<i64>().map_or(Value::String(text), Value::from)
        }
        (Some(FieldType::Boolean), Value::String(text)) => {
            text.trim().parse::<bool>().map_or(Value::String(text), Value::from)
        }
        (_, value) => value,
    };
    (name, value)
}

/// Returns the fields with their secrets masked.
fn masked(fields: &Map<String, Value>) -> Map<String, Value> {
    let second = |value: &Value| {
        let fields = value.as_object().cloned().unwrap_or_default();
        Value::Object(fields.iter().map(|one| mask(SECOND_OWNER_FIELDS, one)).collect())
    };
    let shown = fields.iter().map(|(name, value)| match name.as_str() {
        SECOND_OWNER => (name.clone(), second(value)),
        _ => mask(FIELDS, (name, value)),
    });
    shown.collect()
}

/// Masks a value that the table marks secret or does not name.
fn mask(table: &[Field], (name, value): (&String, &Value)) -> (String, Value) {
    let field = table.iter().find(|field| field.name == name);
    let is_open = field.is_some_and(|field| field.privacy != Privacy::Secret);
    (name.clone(), if is_open { value.clone() } else { Value::from(MASK) })
}
