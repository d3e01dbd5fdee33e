//! Source of a saved method's details: written in the document, or given by the payer.
//!
//! A method whose details a payer gives waits for a one-time token, is saved by that token, and is
//! changed by the next one. No document shows such details, so they are identified by the token
//! that gave them. The identity is in the applied spec, at a path beneath `source`. Other details
//! are therefore a change like any other, which resources that copied the details can detect.

use std::borrow::Cow;
use std::fmt;

use chrono::{DateTime, Utc};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Serialize, Serializer, de};
use serde_json::{Value, json};

use crate::base::secret::Secret;
use crate::effects::methods::save::good_until;
use crate::effects::methods::{MethodSource, PaymentMethodType};
use crate::kinds::planning::step::{StepCx, text};
use crate::kinds::saved_method::details::{self, Bank, Card};
use crate::model::manifest::Manifest;
use crate::model::plan::Reason;
use crate::model::state::observed::{AppliedSpec, Observed, ServiceRefusal};
use crate::model::state::token_attachment::{AwaitedDetails, SuppliedToken};

pub(super) const INTAKE: &str = "intake";

/// Source of the method's details.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MethodSourceSpec {
    /// Written here; an empty mapping keeps the saved details.
    Written(Box<WrittenDetails>),
    /// Given by a payer, on a page of ours or by an attached token.
    Intake,
}

/// Details that are written in the document: exactly one of these.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Written")]
pub struct WrittenDetails {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card: Option<Card>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bank: Option<Bank>,
}

impl MethodSourceSpec {
    pub fn card(&self) -> Option<&Card> {
        self.written_details()?.card.as_ref()
    }

    pub fn bank(&self) -> Option<&Bank> {
        self.written_details()?.bank.as_ref()
    }

    /// Returns whether nothing is written: the saved details stay.
    pub(super) fn is_empty(&self) -> bool {
        self.written_details()
            .is_some_and(|written| written.card.is_none() && written.bank.is_none())
    }

    /// Returns a number in plain text, and its path.
    pub(super) fn literal(&self) -> Option<(&'static str, &Secret)> {
        let card = || Some((details::CARD_NUMBER, self.card()?.number.literal()?));
        let bank = || Some((details::ACCOUNT_NUMBER, self.bank()?.account_number.literal()?));
        card().or_else(bank)
    }

    fn written_details(&self) -> Option<&WrittenDetails> {
        match self {
            Self::Written(written) => Some(written),
            Self::Intake => None,
        }
    }
}

impl Serialize for MethodSourceSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Written(written) => written.serialize(serializer),
            Self::Intake => serializer.serialize_str(INTAKE),
        }
    }
}

impl<'de> Deserialize<'de> for MethodSourceSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;

        impl<'de> Visitor<'de> for Either {
            type Value = MethodSourceSpec;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`intake`, or a mapping that fits `type`")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<MethodSourceSpec, E> {
                if text == INTAKE {
                    return Ok(MethodSourceSpec::Intake);
                }
                Err(E::invalid_value(Unexpected::Str(text), &self))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<MethodSourceSpec, A::Error> {
                let written = WrittenDetails::deserialize(MapAccessDeserializer::new(map))?;
                Ok(MethodSourceSpec::Written(Box::new(written)))
            }
        }

        deserializer.deserialize_any(Either)
    }
}

impl JsonSchema for MethodSourceSpec {
    fn schema_name() -> Cow<'static, str> {
        "Source".into()
    }

    /// A mapping with its fields, or the one valid text.
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = WrittenDetails::json_schema(generator);
        schema.insert("type".to_owned(), json!(["object", "string"]));
        schema.insert("pattern".to_owned(), json!(format!("^{INTAKE}$")));
        schema
    }
}

/// Returns the data from which a spec's method is created.
pub(crate) fn source(spec: &Value) -> MethodSource<'_> {
    let sort = method_type(spec);
    let place = match sort {
        PaymentMethodType::Card => "/source/card",
        PaymentMethodType::Bank => "/source/bank",
    };
    let details = spec.pointer(place).unwrap_or(&Value::Null);
    MethodSource { method_type: sort, details, description: spec.get("description") }
}

pub(super) fn method_type(spec: &Value) -> PaymentMethodType {
    if text(spec, "type") == "bank" { PaymentMethodType::Bank } else { PaymentMethodType::Card }
}

const GIVEN: &str = "source.given";
/// The status of a token that no longer exists, or never did.
const NO_TOKEN: u16 = 404;
const TOO_LATE: &str =
    "the token expired before it was used: it is valid for five minutes; open the link again";
/// Explanation for a token that the service does not know: it was used, or has expired.
const TOKEN_UNKNOWN: &str = "the one-time token was used or has expired: supply another one";
/// Explanation for a method that was saved from its document.
const WRITTEN_BEFORE: &str = "the saved details came from the document; to keep them beside the new ones, raise \
                              reckon.dev/generation";

pub(crate) fn is_intake(spec: &Value) -> bool {
    spec.get("source").is_some_and(|source| source == INTAKE)
}

/// Returns the applied state under the document's own generation; `None` before the first one.
pub(crate) fn applied_state<'a>(
    manifest: &Manifest,
    have: Option<&'a Observed>,
) -> Option<&'a AppliedSpec> {
    let applied = have.filter(|have| have.exists)?.applied.as_ref()?;
    (applied.generation >= manifest.annotations.generation).then_some(applied)
}

/// Returns the identity of given details from an applied spec; `None` if no payer gave them.
pub(crate) fn given_details(applied: &Value) -> Option<&Value> {
    applied.get(GIVEN)
}

/// Returns the awaited details, and the reason why the latest token failed, if one did.
pub(crate) fn awaited_intake(
    manifest: &Manifest,
    have: Option<&Observed>,
    now: DateTime<Utc>,
) -> AwaitedDetails {
    let trouble = attached_token(manifest, have, now).err().flatten();
    let written = |applied: &AppliedSpec| !is_intake(&applied.spec);
    let replaced = applied_state(manifest, have);
    let before = replaced.is_some_and(written).then(|| WRITTEN_BEFORE.to_owned());
    AwaitedDetails {
        key: manifest.key.clone(),
        method_type: source(&manifest.spec).method_type.word(),
        failure: trouble.or(before),
        replaces: replaced.is_some(),
    }
}

/// Returns the supplied token while it may be sent, else the details for which the method waits.
pub(super) fn usable_token(
    cx: &StepCx<'_>,
    manifest: &Manifest,
    have: Option<&Observed>,
) -> Result<SuppliedToken, Reason> {
    let waits = |_| Reason::AwaitsIntake(Box::new(awaited_intake(manifest, have, cx.now)));
    attached_token(manifest, have, cx.now).map_err(waits)
}

/// Returns the document with the identity of the details: of a new token, else of the saved ones.
pub(super) fn with_given_details<'a>(
    cx: &StepCx<'_>,
    manifest: &'a Manifest,
    have: Option<&Observed>,
) -> Cow<'a, Manifest> {
    if !is_intake(&manifest.spec) {
        return Cow::Borrowed(manifest);
    }
    let saved =
        || applied_state(manifest, have).and_then(|applied| given_details(&applied.spec).cloned());
    let brought = attached_token(manifest, have, cx.now).ok();
    let details =
        brought.map(|brought| SuppliedToken::details_marker(brought.digest)).or_else(saved);
    let Some(details) = details else { return Cow::Borrowed(manifest) };
    let mut manifest = manifest.clone();
    if let Some(spec) = manifest.spec.as_object_mut() {
        spec.insert(GIVEN.to_owned(), details);
    }
    Cow::Owned(manifest)
}

/// Returns the supplied token; else `None` without a token, or the reason why it cannot be used.
fn attached_token(
    manifest: &Manifest,
    have: Option<&Observed>,
    now: DateTime<Utc>,
) -> Result<SuppliedToken, Option<String>> {
    let generation = manifest.annotations.generation;
    let known = have.and_then(|have| Some((have, SuppliedToken::of(have, generation)?)));
    let Some((have, brought)) = known else { return Err(None) };
    if let Some(refusal) = &have.refusal {
        return Err(Some(refusal_message(refusal)));
    }
    if good_until(&brought) <= now {
        return Err(Some(TOO_LATE.to_owned()));
    }
    Ok(brought)
}

fn refusal_message(refusal: &ServiceRefusal) -> String {
    if refusal.status == NO_TOKEN {
        return TOKEN_UNKNOWN.to_owned();
    }
    format!("the service did not save the details: {}", refusal.problem.sentences())
}
