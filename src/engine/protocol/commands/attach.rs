//! One-time tokens from a payer's page, or submitted by a person.
//!
//! A token is accepted only while the method asks for one. The token is sealed and on disk before
//! the engine answers. Then the method's own step saves it, or changes the saved method by it.
//! Further tokens may accompany it for the recurring charges that the method pays, which copied its
//! details. Each has a record of its own, before the method's.

use serde::{Deserialize, Serialize, Serializer};

use super::intake::IntakeLink;
use crate::base::id::Key;
use crate::base::secret::Secret;

/// A token on its way to the engine. It crosses the control socket, and is displayed nowhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttachToken {
    /// The saved method.
    pub key: Key,
    #[serde(serialize_with = "serialize_exposed")]
    pub token: Secret,
    /// Further tokens of the same details, one for each recurring charge that the method pays.
    #[serde(
        default,
        serialize_with = "serialize_all_exposed",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub more: Vec<Secret>,
    /// True if the token may replace the saved details. A payer's link contains this itself.
    #[serde(default)]
    pub replace: bool,
}

/// A token with its actor and its origin.
#[derive(Debug)]
pub struct SubmitToken {
    /// The token and its method.
    pub attaching: AttachToken,
    /// The payer's link by which the token arrived, if any.
    pub link: Option<IntakeLink>,
    pub actor: String,
}

fn serialize_exposed<S: Serializer>(token: &Secret, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(token.expose())
}

fn serialize_all_exposed<S: Serializer>(
    tokens: &[Secret],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(tokens.iter().map(Secret::expose))
}
