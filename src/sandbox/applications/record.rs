//! An application as it is kept, and the look-ups over all of them.

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
/// All applications are the partner's.
const LIST: &str = "partner";
/// Ids look like those of a service that is in use.
const ID_BASE: u64 = 100_000;
/// Stands for a secret value.
const MASK: &str = "***";
/// Where the one test of the sign-up is remembered, deleted or not.
const TEST_TAKEN: &str = "x/application/test";

/// What is shown of an application.
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
    /// What was sent, secrets masked.
    pub(crate) fields: Map<String, Value>,
}

/// What is kept beside it.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Inside {
    pub(crate) fields: Map<String, Value>,
    /// Its place among all submissions.
    pub(crate) submission: u64,
}

pub(crate) type Found = Kept<Application, Inside>;

/// A field's text, empty where there is none.
pub(crate) fn text<'a>(fields: &'a Map<String, Value>, name: &str) -> &'a str {
    fields.get(name).and_then(Value::as_str).unwrap_or_default().trim()
}

/// An id that nothing has yet.
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

/// The application of this id; 404 for none.
pub(crate) fn load(cx: &Cx<'_>, id: &str) -> Result<Found, Refusal> {
    cx.any(KIND, id)?.ok_or_else(|| Refusal::missing(KIND.name, id))
}

/// Stores an application again.
pub(crate) fn store(cx: &mut Cx<'_>, found: &Found) -> Result<(), Refusal> {
    cx.update(KIND, &found.object.id.to_string(), found)
}

/// Forgets an application, as support does with a test.
pub(crate) fn delete(cx: &mut Cx<'_>, id: &str) -> Result<(), Refusal> {
    let found = load(cx, id)?;
    cx.delete(KIND, LIST, id, found.sequence)
}

/// Marks an application as submitted, and remembers by what a second one is known.
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

/// Was the one test of the sign-up submitted?
pub(crate) fn test_taken(cx: &Cx<'_>) -> Result<bool, Refusal> {
    Ok(cx.get::<String>(TEST_TAKEN)?.is_some())
}

/// Was an application of the same reference or tax id submitted before, and not declined?
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

/// Its reference, and its tax id without what people write between the digits.
fn known_by(found: &Found) -> [String; 2] {
    let tax = text(&found.inside.fields, "federal_tax_id");
    let tax: String = tax.chars().filter(char::is_ascii_alphanumeric).collect();
    [format!("reference {}", found.object.reference), format!("tax {tax}")]
}

fn prefix(cx: &Cx<'_>, known: &str) -> String {
    format!("x/application/of/{}/", named(&cx.world.seed, "application", known))
}

/// What clients send and the service forgives: explicit nulls, and numbers and truths as texts
/// (service-facts, 9).
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

/// The fields without those that are null, also of the second owner.
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

/// The fields without what nobody may see.
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

/// A value that the table calls secret, or does not name, is masked.
fn mask(table: &[Field], (name, value): (&String, &Value)) -> (String, Value) {
    let field = table.iter().find(|field| field.name == name);
    let is_open = field.is_some_and(|field| field.privacy != Privacy::Secret);
    (name.clone(), if is_open { value.clone() } else { Value::from(MASK) })
}
