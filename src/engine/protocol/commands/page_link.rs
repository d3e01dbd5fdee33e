//! Requests for an address that opens a page: an applicant's link, or the portal link of an
//! invoice. The page is made for that one person and handed back; the address is a secret.

use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

use crate::base::secret::Secret;

/// The address; `None`: there is no page to open now.
pub type PageLink = Option<Secret>;

/// A link on its way to the person who asked for it: it crosses the control socket, and nothing
/// else.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct SecretLink(pub Secret);

impl fmt::Debug for SecretLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Link(***)")
    }
}

impl Serialize for SecretLink {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.expose())
    }
}
