//! The name of a sealed value.

use std::{fmt, str::FromStr};

use data_encoding::HEXLOWER_PERMISSIVE;
use serde::{Deserialize, Serialize};

/// The name of a sealed value: 16 random bytes, written as 32 hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct VaultRef(pub(crate) [u8; 16]);

/// The text is not 32 hex digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("read the name of a sealed value: it is not 32 hex digits")]
pub struct VaultRefError;

impl fmt::Display for VaultRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&HEXLOWER_PERMISSIVE.encode(&self.0))
    }
}

impl fmt::Debug for VaultRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VaultRef({self})")
    }
}

impl FromStr for VaultRef {
    type Err = VaultRefError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bytes = HEXLOWER_PERMISSIVE.decode(text.as_bytes()).map_err(|_| VaultRefError)?;
        bytes.try_into().map(Self).map_err(|_| VaultRefError)
    }
}

impl TryFrom<String> for VaultRef {
    type Error = VaultRefError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<VaultRef> for String {
    fn from(reference: VaultRef) -> Self {
        reference.to_string()
    }
}
