//! Applications of new merchants (partner-api, Merchant application).
//!
//! An application is either complete, with every field, or a sign-up that the applicant finishes on
//! the service's own page. The fields are a table ([`fields`](super::fields)), so that the rules,
//! the files' shapes, the JSON Schema and the tests agree on each. A request is therefore a map of
//! fields and no struct of eighty options.

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};

use crate::api::call::endpoints;
use crate::api::onboarding::fields::{
    self, ApplicationField, FIELDS, FieldType, SECOND_OWNER, SECOND_OWNER_FIELDS, SIGN_UP_REQUIRED,
};
use crate::api::wire;
use crate::base::secret::Secret;

/// Suffix of the business name of a sign-up test (partner-api, the sign-up endpoint).
pub const TEST_SUFFIX: &str = " - TEST";

/// Returns whether this is the name of the one application that tests the sign-up. Only one such
/// may ever be submitted.
pub fn is_test_name(business_name: &str) -> bool {
    business_name.trim_end().ends_with(TEST_SUFFIX)
}

/// The way in which an application is submitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Submission {
    /// The partner sends every field.
    Complete,
    /// The applicant finishes the application on the service's page.
    SignUp,
}

/// The fields of an application by name; `Debug` shows the names alone.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize, derive_more::Debug)]
#[serde(transparent)]
#[debug("{:?}", _0.keys().collect::<Vec<_>>())]
pub struct ApplicationFields(pub Map<String, Value>);

impl ApplicationFields {
    /// Fills in the reference's defaults: no other name of business, and an owner with full
    /// ownership.
    pub fn fill_defaults(&mut self) {
        for (name, value) in [
            ("has_dba", Value::from(fields::HAS_DBA_DEFAULT)),
            ("owner_percentage_of_ownership", Value::from(fields::OWNERSHIP_DEFAULT)),
        ] {
            if self.0.get(name).is_none_or(Value::is_null) {
                self.0.insert(name.to_owned(), value);
            }
        }
    }
}

/// The service's number of an application; written as an integer, read as one or as a text of
/// digits (partner-api, Responses; service-facts, 84).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[derive(derive_more::Display)]
#[serde(transparent)]
pub struct ApplicationId(pub u64);

impl ApplicationId {
    /// Reads an integer or a text of digits; `None` for anything else.
    pub fn read(value: &Value) -> Option<Self> {
        let digits = |text: &str| {
            // `parse` also takes a sign.
            text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))
        };
        value.as_u64().or_else(|| value.as_str().and_then(digits)).map(Self)
    }
}

impl<'de> Deserialize<'de> for ApplicationId {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(from)?;
        Self::read(&value).ok_or_else(|| D::Error::custom("the id is no number"))
    }
}

/// The body of a complete application: its fields under one name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("required" = ["merchant_application"]))]
pub struct NewApplication {
    /// The fields.
    pub merchant_application: ApplicationFields,
}

/// The answer to a complete application.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SubmittedApplication {
    /// The submitted application.
    pub merchant_application: Submitted,
}

/// A submitted application as the service shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Submitted {
    /// The application's number.
    pub id: ApplicationId,
}

/// The answer to a sign-up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StartedSignUp {
    /// The new application.
    pub merchant_application: SignUpPage,
}

/// A sign-up that waits for its applicant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SignUpPage {
    /// The number of the application.
    pub id: ApplicationId,
    /// Address of the page where the applicant finishes the application; good for five minutes and
    /// one use (partner-api, Limits). Anyone with this link sees the fields that were filled in.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        serialize_with = "wire::serialize_exposed"
    )]
    pub redirect_uri: Option<Secret>,
}

endpoints! {
    /// Submits a complete application.
    SubmitApplication "application.submit": Post Web "/api/v1/merchant_applications" by Tenant,
        NewApplication => SubmittedApplication;
    /// Makes a page on which the applicant finishes and submits the application; the body is flat.
    StartSignUp "application.sign_up": Post Web "/api/v1/merchant_applications/sign_up" by Tenant,
        ApplicationFields => StartedSignUp;
}

wire::inline_schema!(ApplicationFields, {
    "type": "object",
    "properties": application_properties(),
    "required": SIGN_UP_REQUIRED,
});

/// Returns the shapes of all fields. Those that both ways of submission need are required; a
/// complete application needs more, by its own fields.
fn application_properties() -> Map<String, Value> {
    let mut all = properties(FIELDS);
    let second = json!({"type": "object", "properties": properties(SECOND_OWNER_FIELDS)});
    all.insert(SECOND_OWNER.to_owned(), second);
    all
}

fn properties(fields: &[ApplicationField]) -> Map<String, Value> {
    fields.iter().map(|field| (field.name.to_owned(), shape(field.field_type))).collect()
}

fn shape(of: FieldType) -> Value {
    let mut shape = match of {
        FieldType::Choice(words) => return json!({"type": "string", "enum": words}),
        FieldType::Integer(min, max) => {
            return json!({"type": "integer", "minimum": min, "maximum": max});
        }
        FieldType::Boolean => return json!({"type": "boolean"}),
        FieldType::Date => json!({"type": "string", "format": "date"}),
        FieldType::Timestamp => json!({"type": "string", "format": "date-time"}),
        FieldType::Email => json!({"type": "string", "format": "email"}),
        FieldType::Text
        | FieldType::Phone
        | FieldType::PostalCode
        | FieldType::Url
        | FieldType::State
        | FieldType::Country
        | FieldType::Signature => json!({"type": "string"}),
    };
    if let (Some(most), Value::Object(shape)) = (of.length_max(), &mut shape) {
        shape.insert("maxLength".to_owned(), most.into());
    }
    shape
}

#[cfg(test)]
mod tests;
