//! Stored applications: their states (partner-api, States and transitions), and the look-ups over
//! all of them.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use serde_with::skip_serializing_none;

use crate::api::event::DeclineReason;
use crate::api::onboarding::application::{
    ApplicationFields, ApplicationId, Submission, is_test_name,
};
use crate::api::onboarding::fields::{self, ApplicationPrivacy, FieldType, SECOND_OWNER};
use crate::api::wire::Timestamp;
use crate::sandbox::answer::{Result, SandboxRefusal};
use crate::sandbox::state::objects::{MerchantMode, ObjectKind, ObjectOwner, Stored, derive_id};
use crate::sandbox::state::store::{ChangeUnit, sortable_key};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ApplicationState {
    /// A sign-up that its applicant has not finished.
    Started,
    Submitted,
    Provisioned,
    Declined,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ApplicationTransition {
    /// The application is complete and goes to underwriting.
    Submit,
    Approve,
    Decline,
    /// People approve it, also after a decline; only people may reconsider.
    Reconsider,
}

/// Returns the state after a change. 422 for a change that the state does not allow.
pub(crate) fn after(
    state: ApplicationState,
    change: ApplicationTransition,
) -> Result<ApplicationState> {
    use ApplicationState as S;
    use ApplicationTransition as T;
    match (state, change) {
        (S::Started, T::Submit) => Ok(S::Submitted),
        (S::Submitted, T::Approve) | (S::Submitted | S::Declined, T::Reconsider) => {
            Ok(S::Provisioned)
        }
        (S::Submitted, T::Decline) => Ok(S::Declined),
        _ => {
            let text = "Application is not waiting for a decision";
            Err(SandboxRefusal::rule("unavailable_for_current_status", text))
        }
    }
}

/// List key: all applications belong to the partner.
const LIST: &str = "partner";
/// First id, so that ids look like those of a service in use.
const ID_BASE: u64 = 100_000;
const MASK: &str = "***";
/// Key that records the one test of the sign-up, even after the test was deleted.
pub(crate) const TEST_TAKEN: &str = "x/application/test";

#[skip_serializing_none]
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Application {
    pub(crate) id: ApplicationId,
    pub(crate) state: ApplicationState,
    pub(crate) submission: Submission,
    pub(crate) created: Timestamp,
    pub(crate) submitted: Option<Timestamp>,
    pub(crate) decided: Option<Timestamp>,
    pub(crate) reason: Option<DeclineReason>,
    pub(crate) reference: String,
    pub(crate) plan: String,
    /// Submitted fields, secrets masked.
    pub(crate) fields: Map<String, Value>,
}

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct ApplicationInternals {
    pub(crate) fields: Map<String, Value>,
    /// Its position among all submissions.
    pub(crate) submission: u64,
}

pub(crate) type StoredApplication = Stored<Application, ApplicationInternals>;

/// Returns a field's trimmed text, or an empty one.
pub(crate) fn text<'a>(fields: &'a Map<String, Value>, name: &str) -> &'a str {
    fields.get(name).and_then(Value::as_str).unwrap_or_default().trim()
}

pub(crate) fn fresh_id(cx: &mut ChangeUnit) -> ApplicationId {
    ApplicationId(ID_BASE.saturating_add(cx.next()))
}

/// Stores a new application, not submitted yet.
pub(crate) fn create(
    cx: &mut ChangeUnit,
    submission: Submission,
    fields: Map<String, Value>,
) -> Result<StoredApplication> {
    let id = fresh_id(cx);
    let object = Application {
        id,
        state: ApplicationState::Started,
        submission,
        created: Timestamp(cx.now),
        submitted: None,
        decided: None,
        reason: None,
        reference: text(&fields, "reference").to_owned(),
        plan: text(&fields, "plan").to_owned(),
        fields: mask_secrets(&fields),
    };
    let owner = ObjectOwner { merchant: String::new(), mode: MerchantMode::Live };
    let inside = ApplicationInternals { fields, submission: 0 };
    let found = Stored { owner, sequence: cx.next(), object, internal: inside };
    cx.create(ObjectKind::APPLICATION, LIST, &id.to_string(), &found)?;
    Ok(found)
}

pub(crate) fn load(cx: &ChangeUnit, id: &str) -> Result<StoredApplication> {
    cx.load(ObjectKind::APPLICATION, id)
}

/// Returns the newest applications of all.
pub(crate) fn newest(cx: &ChangeUnit, take: u64) -> Result<Vec<Application>> {
    let ids = cx.ids(&ObjectKind::APPLICATION.list(LIST), 0, take)?.into_iter();
    ids.map(|id| Ok(load(cx, &id)?.object)).collect()
}

pub(crate) fn store(cx: &mut ChangeUnit, found: &StoredApplication) -> Result<()> {
    cx.update(ObjectKind::APPLICATION, &found.object.id.to_string(), found)
}

/// Deletes an application, as support does with a sign-up's test. Another test is still refused.
pub(crate) fn delete(cx: &mut ChangeUnit, id: &str) -> Result<()> {
    let found = load(cx, id)?;
    cx.delete(ObjectKind::APPLICATION, LIST, id, found.sequence);
    Ok(())
}

/// Marks an application as submitted, and stores the keys by which a duplicate is recognised.
pub(crate) fn submit(cx: &mut ChangeUnit, mut found: StoredApplication) -> Result<()> {
    found.object.state = after(found.object.state, ApplicationTransition::Submit)?;
    let mut fields = ApplicationFields(std::mem::take(&mut found.internal.fields));
    fields.fill_defaults();
    found.internal.fields = fields.0;
    found.object.submitted = Some(Timestamp(cx.now));
    found.object.fields = mask_secrets(&found.internal.fields);
    found.internal.submission = cx.next();
    let id = found.object.id.to_string();
    for known in duplicate_keys(&found) {
        let key = format!("{}{}", prefix(cx, &known), sortable_key(found.internal.submission));
        cx.put(&key, &id)?;
    }
    if is_test_name(text(&found.internal.fields, "business_name")) {
        cx.put(TEST_TAKEN, &id)?;
    }
    store(cx, &found)
}

/// Returns true if the same reference or tax id was submitted before and not declined.
pub(crate) fn is_duplicate(cx: &ChangeUnit, found: &StoredApplication) -> Result<bool> {
    for known in duplicate_keys(found) {
        for (_, id) in cx.entries(&prefix(cx, &known))? {
            let other: Option<StoredApplication> =
                cx.look_up(ObjectKind::APPLICATION, id.as_str().unwrap_or_default())?;
            let counts = |other: StoredApplication| {
                other.internal.submission < found.internal.submission
                    && other.object.state != ApplicationState::Declined
            };
            if other.is_some_and(counts) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Returns the duplicate keys: the reference, and the tax id without punctuation.
fn duplicate_keys(found: &StoredApplication) -> [String; 2] {
    let tax = text(&found.internal.fields, "federal_tax_id");
    let tax: String = tax.chars().filter(char::is_ascii_alphanumeric).collect();
    [format!("reference {}", found.object.reference), format!("tax {tax}")]
}

fn prefix(cx: &ChangeUnit, known: &str) -> String {
    format!("x/application/of/{}/", derive_id(&cx.environment.seed, "application", known))
}

/// Drops explicit nulls, and converts numbers and booleans sent as text (service-facts, 9).
pub(crate) fn normalise_fields(fields: Map<String, Value>) -> Map<String, Value> {
    map_fields(&without_nulls(fields), |path, value| {
        let field_type = fields::find(path).map(|field| field.field_type);
        let converted = match (field_type, value) {
            (Some(FieldType::Integer(..)), Value::String(text)) => {
                text.trim().parse::<i64>().ok().map(Value::from)
            }
            (Some(FieldType::Boolean), Value::String(text)) => {
                text.trim().parse::<bool>().ok().map(Value::from)
            }
            _ => None,
        };
        Some(converted.unwrap_or_else(|| value.clone()))
    })
}

/// Converts each field by its path, also those of the second owner; `None` drops it.
pub(crate) fn map_fields(
    all: &Map<String, Value>,
    convert: impl Fn(&str, &Value) -> Option<Value>,
) -> Map<String, Value> {
    let one = |(name, value): (&String, &Value)| {
        let Some(second) = value.as_object().filter(|_| name == SECOND_OWNER) else {
            return Some((name.clone(), convert(name, value)?));
        };
        let own = second.iter().filter_map(|(name, value)| {
            Some((name.clone(), convert(&format!("{SECOND_OWNER}.{name}"), value)?))
        });
        Some((name.clone(), Value::Object(own.collect())))
    };
    all.iter().filter_map(one).collect()
}

/// Drops null fields, also of the second owner.
pub(crate) fn without_nulls(mut fields: Map<String, Value>) -> Map<String, Value> {
    fields.retain(|_, value| !value.is_null());
    if let Some(Value::Object(second)) = fields.get_mut(SECOND_OWNER) {
        second.retain(|_, value| !value.is_null());
    }
    fields
}

/// Masks the values that are secret or unknown; a second owner of another form shows none.
fn mask_secrets(all: &Map<String, Value>) -> Map<String, Value> {
    map_fields(all, |path, value| {
        let field = fields::find(path);
        let is_open = field.is_some_and(|field| field.privacy != ApplicationPrivacy::Secret);
        let hidden = || if path == SECOND_OWNER { json!({}) } else { Value::from(MASK) };
        Some(if is_open { value.clone() } else { hidden() })
    })
}
