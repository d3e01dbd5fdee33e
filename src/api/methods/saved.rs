//! Shared parts of saved cards and saved banks (gateway-api, Saved cards, Saved banks).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::api::rules::{FieldProblem, FieldProblems, REFERENCE_LENGTH_MAX};

/// The fields that a PATCH may change; a saved method's other fields never change.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SavedChange {
    /// The partner's reference.
    #[schemars(length(max = REFERENCE_LENGTH_MAX))]
    pub reference: Option<String>,
    /// A free text.
    #[schemars(length(max = REFERENCE_LENGTH_MAX))]
    pub description: Option<String>,
    /// A one-time token whose details replace the number.
    pub token_id: Option<String>,
}

/// Returns every problem of a change's fields.
pub fn change_rules(change: &SavedChange) -> Vec<FieldProblem> {
    let mut problems = FieldProblems::default();
    text_rules(&mut problems, change.reference.as_deref(), change.description.as_deref());
    problems.into_list()
}

/// Checks the two texts of any saved method.
pub(crate) fn text_rules(
    problems: &mut FieldProblems,
    reference: Option<&str>,
    text: Option<&str>,
) {
    problems.length_max("reference", "Reference", reference, REFERENCE_LENGTH_MAX);
    problems.length_max("description", "Description", text, REFERENCE_LENGTH_MAX);
}
