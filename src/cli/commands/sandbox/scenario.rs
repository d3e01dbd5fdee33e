//! `sandbox --scenario FILE`: a list of requests that puts a sandbox into a state worth trying
//! things in.
//!
//! A step is a request to the service or to a control path, with its expected status. An unexpected
//! status ends the start, and the message names the step.

mod fill;
pub(crate) mod play;

use std::collections::BTreeMap;
use std::path::Path;

use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::Value;

use crate::base::hash::{Digest, sha256};
use crate::cli::output::exit::CommandFailure;

pub(crate) use play::play;

/// A scenario as its file holds it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScenarioFile {
    /// The purpose of the scenario.
    about: String,
    /// The moment at which the sandbox's clock starts; the real time by default.
    #[serde(default)]
    clock: Option<DateTime<Utc>>,
    steps: Vec<ScenarioStep>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScenarioStep {
    /// The purpose of the step, for readers of the file or of a failure.
    #[serde(default)]
    say: Option<String>,
    /// Method and path, such as `POST /v1/charges`.
    request: String,
    /// The owner and type of the credential that the request carries.
    #[serde(default, rename = "as")]
    caller: StepCredential,
    /// The merchant that owns the credential.
    #[serde(default)]
    merchant: Option<String>,
    #[serde(default)]
    body: Option<Value>,
    /// The expected status; 200 by default.
    #[serde(default)]
    expect: Option<u16>,
    /// Names for values of the answer, by JSON pointer; later steps write `${name}`.
    #[serde(default)]
    keep: BTreeMap<String, String>,
}

/// The owner and type of a request's credential.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StepCredential {
    /// The merchant's secret key of test mode; no credential on a control path.
    #[default]
    SecretKey,
    /// The merchant's public key of test mode.
    PublicKey,
    /// The merchant's secret key of live mode.
    LiveSecretKey,
    /// The partner's token for the merchant.
    Payments,
    /// The partner's own token.
    Tenant,
    /// No credential.
    #[serde(rename = "nobody")]
    NoCredential,
}

/// A scenario with its name and the digest of its file.
#[derive(Debug)]
pub(crate) struct Scenario {
    name: String,
    digest: Digest,
    story: ScenarioFile,
}

impl Scenario {
    /// Reads a file.
    ///
    /// # Errors
    /// The file cannot be read, or is no scenario; the message names the place.
    pub(crate) fn read(path: &Path) -> Result<Self, CommandFailure> {
        let shown = path.display();
        let bytes = std::fs::read(path).map_err(|error| {
            CommandFailure::input("reckon::scenario::read", format!("{shown}: {error}"))
        })?;
        let story = serde_yaml::from_slice(&bytes).map_err(|error| {
            CommandFailure::input("reckon::scenario::shape", format!("{shown}: {error}")).help(
                "write `about`, `clock` and `steps`; a step has `request`, such as `POST \
                    /v1/charges`, and `say`, `as`, `merchant`, `body`, `expect`, `keep`; see \
                    examples/scenarios",
            )
        })?;
        let name = path.file_stem().map(|name| name.to_string_lossy().into_owned());
        Ok(Self { name: name.unwrap_or_default(), digest: sha256(&bytes), story })
    }

    /// Returns the moment at which the sandbox's clock starts, if the scenario sets it.
    pub(crate) fn clock(&self) -> Option<DateTime<Utc>> {
        self.story.clock
    }
}
