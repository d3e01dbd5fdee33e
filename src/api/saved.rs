//! What saved cards and saved banks have in common (gateway-api, Saved cards, Saved banks).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::rules::{FieldProblem, Problems, REFERENCE_LENGTH_MAX};

/// What a PATCH may change; nothing else of a saved method ever changes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SavedChange {
    /// The partner's reference.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = REFERENCE_LENGTH_MAX))]
    pub reference: Option<String>,
    /// A text.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = REFERENCE_LENGTH_MAX))]
    pub description: Option<String>,
    /// A one-time token whose details replace the number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_id: Option<String>,
}

/// Everything wrong with the fields of a change.
pub fn change_rules(change: &SavedChange) -> Vec<FieldProblem> {
    let mut problems = Problems::default();
    text_rules(&mut problems, change.reference.as_deref(), change.description.as_deref());
    problems.into_list()
}

/// The two texts that any saved method carries.
pub(crate) fn text_rules(problems: &mut Problems, reference: Option<&str>, text: Option<&str>) {
    problems.length_max("reference", "Reference", reference, REFERENCE_LENGTH_MAX);
    problems.length_max("description", "Description", text, REFERENCE_LENGTH_MAX);
}
