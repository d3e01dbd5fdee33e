//! `sandbox --scenario FILE`: a story of requests that puts a sandbox into a state worth trying things in.
//!
//! A step is a request to the service or to a control path, with the status that it has to get: a story that does not
//! go as it is written ends the start, and says where.

mod fill;
mod play;

use std::collections::BTreeMap;
use std::path::Path;

use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::Value;

use super::exit::Failure;
use crate::base::hash::{Digest, sha256};

pub(super) use play::play;

/// A story.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Story {
    /// What it is good for.
    about: String,
    /// When the sandbox's clock starts; the real time where nothing is said.
    #[serde(default)]
    clock: Option<DateTime<Utc>>,
    steps: Vec<Step>,
}

/// One request.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    /// What it does, for whoever reads the file or a failure.
    #[serde(default)]
    say: Option<String>,
    /// Method and path, such as `POST /v1/charges`.
    request: String,
    /// Whose credential it carries.
    #[serde(default, rename = "as")]
    caller: Caller,
    /// The merchant whose credential it is.
    #[serde(default)]
    merchant: Option<String>,
    #[serde(default)]
    body: Option<Value>,
    /// The status that it has to be answered with.
    #[serde(default)]
    expect: Option<u16>,
    /// Names for values of the answer, by JSON pointer; later steps write `${name}`.
    #[serde(default)]
    keep: BTreeMap<String, String>,
}

/// Whose credential a request carries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Caller {
    /// The merchant's secret key of test mode; nobody's on a control path.
    #[default]
    SecretKey,
    /// Its public key of test mode.
    PublicKey,
    /// Its secret key of live mode.
    LiveSecretKey,
    /// The partner's token for the merchant.
    Payments,
    /// The partner's own token.
    Tenant,
    /// None.
    Nobody,
}

/// A story with its name and the digest of its file.
#[derive(Debug)]
pub(super) struct Scenario {
    name: String,
    digest: Digest,
    story: Story,
}

impl Scenario {
    /// Reads a file. Errors: it cannot be read, or it is no scenario; the message says where.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let shown = path.display();
        let bytes = std::fs::read(path).map_err(|error| {
            Failure::input("reckon::scenario::read", format!("{shown}: {error}"))
        })?;
        let story = serde_yaml::from_slice(&bytes).map_err(|error| {
            Failure::input("reckon::scenario::shape", format!("{shown}: {error}"))
                .help("a scenario has `about`, `clock` and `steps`; a step has `request`, such as `POST /v1/charges`, and \
                       `say`, `as`, `merchant`, `body`, `expect`, `keep`; examples/scenarios has ten of them")
        })?;
        let name = path.file_stem().map(|name| name.to_string_lossy().into_owned());
        Ok(Self { name: name.unwrap_or_default(), digest: sha256(&bytes), story })
    }

    /// When the sandbox's clock starts, if it matters.
    pub(super) fn clock(&self) -> Option<DateTime<Utc>> {
        self.story.clock
    }
}
