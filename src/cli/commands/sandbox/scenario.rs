//! `sandbox --scenario FILE`: a list of requests that puts a sandbox into a state worth trying
//! things in.
//!
//! A step is a request to the service or to a control path, with its expected status. An unexpected
//! status ends the start, and the message names the step.

use std::collections::BTreeMap;
use std::path::Path;

use chrono::{DateTime, Utc};
use data_encoding::BASE64;
use serde::Deserialize;
use serde_json::{Value, json};

use super::env::{control_in_process, merchant_text, send, text as body_text, token};
use crate::base::hash::{Digest, sha256};
use crate::base::wording::count_noun;
use crate::cli::exit::{CommandFailure, CommandResult};
use crate::sandbox::server::Sandbox;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScenarioFile {
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
    #[serde(default, rename = "as")]
    caller: StepCredential,
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

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StepCredential {
    /// The merchant's secret key of test mode; no credential on a control path.
    #[default]
    SecretKey,
    /// The merchant's public key of test mode.
    PublicKey,
    LiveSecretKey,
    /// The partner's token for the merchant.
    Payments,
    /// The partner's own token.
    Tenant,
    #[serde(rename = "nobody")]
    NoCredential,
}

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
    pub(crate) fn read(path: &Path) -> CommandResult<Self> {
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

    pub(crate) fn clock(&self) -> Option<DateTime<Utc>> {
        self.story.clock
    }
}

// Substitution in a step: `${charge}` becomes the value that an earlier step kept under `charge`.

/// Values that the steps so far kept, by name.
pub(crate) type KeptValues = BTreeMap<String, String>;

/// Returns a text with its names substituted.
///
/// # Errors
/// No step kept a name, or a brace is not closed.
pub(crate) fn text(pattern: &str, kept: &KeptValues) -> Result<String, String> {
    let mut filled = String::with_capacity(pattern.len());
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once("${") {
        let (name, after) =
            after.split_once('}').ok_or_else(|| format!("`${{` is not closed in `{pattern}`"))?;
        let value = kept.get(name).ok_or_else(|| format!("no earlier step keeps `{name}`"))?;
        filled.push_str(before);
        filled.push_str(value);
        rest = after;
    }
    filled.push_str(rest);
    Ok(filled)
}

pub(crate) fn body(pattern: &Value, kept: &KeptValues) -> Result<Value, String> {
    Ok(match pattern {
        Value::String(pattern) => Value::String(text(pattern, kept)?),
        Value::Array(items) => {
            Value::Array(items.iter().map(|item| body(item, kept)).collect::<Result<_, _>>()?)
        }
        Value::Object(map) => {
            let each = map.iter().map(|(name, value)| Ok((name.clone(), body(value, kept)?)));
            Value::Object(each.collect::<Result<_, String>>()?)
        }
        other @ (Value::Null | Value::Bool(_) | Value::Number(_)) => other.clone(),
    })
}

const CONTROL: &str = "/_sandbox/";
const DEMO: &str = "demo";

/// Plays a scenario once into a state. Returns a report, with the values that its steps kept.
pub(crate) async fn play(sandbox: &Sandbox, scenario: &Scenario) -> CommandResult<String> {
    let before = control_in_process(sandbox, "GET", "/_sandbox/scenario", None)
        .map_err(CommandFailure::bug)?;
    let (name, digest) = (&scenario.name, scenario.digest.to_string());
    if body_text(&before, "/digest") == digest {
        return Ok(format!("scenario {name}: already played into this state"));
    }
    let requests = before.get("requests").and_then(Value::as_u64);
    if requests != Some(0) || before.get("digest").is_some_and(Value::is_string) {
        let what = format!("scenario {name}: the sandbox's state is not empty");
        return Err(CommandFailure::input("reckon::scenario::state", what)
            .help("name an empty directory with --state, or empty the present one"));
    }
    let mut kept = KeptValues::new();
    for (number, step) in (1_usize..).zip(&scenario.story.steps) {
        let done = run(sandbox, step, &mut kept).await;
        done.map_err(|error| step_failure(scenario, number, step, &error))?;
    }
    control_in_process(sandbox, "POST", "/_sandbox/scenario", Some(&json!({ "digest": digest })))
        .map_err(CommandFailure::bug)?;
    Ok(report(scenario, &kept))
}

fn step_failure(
    scenario: &Scenario,
    number: usize,
    step: &ScenarioStep,
    error: &str,
) -> CommandFailure {
    let say = step.say.as_deref().map(|say| format!(" ({say})")).unwrap_or_default();
    let what = format!("scenario {}, step {number}{say}: {error}", scenario.name);
    CommandFailure::input("reckon::scenario::step", what)
        .help("empty the state before the next try: the scenario was played in part")
}

fn report(scenario: &Scenario, kept: &KeptValues) -> String {
    let steps = count_noun(scenario.story.steps.len(), "step");
    let first = format!("scenario {}: {steps}. {}", scenario.name, scenario.story.about.trim());
    let names = kept.iter().map(|(name, value)| format!("\n  {name} {value}"));
    [first].into_iter().chain(names).collect()
}

async fn run(sandbox: &Sandbox, step: &ScenarioStep, kept: &mut KeptValues) -> Result<(), String> {
    let wrong = || format!("`{}` is not a method and a path", step.request);
    let (method, path) = step.request.split_once(' ').ok_or_else(wrong)?;
    let path = text(path.trim(), kept)?;
    let credential = credential(sandbox, step, &path)?;
    let body = step.body.as_ref().map(|pattern| body(pattern, kept)).transpose()?;
    let (status, answer) =
        send(sandbox, method, &path, credential.as_deref(), body.as_ref()).await?;
    let expect = step.expect.unwrap_or(200);
    if status.as_u16() != expect {
        return Err(format!("{method} {path}: status {status}, expected {expect}: {answer}"));
    }
    for (name, pointer) in &step.keep {
        let value = match answer.pointer(pointer) {
            Some(Value::String(text)) => text.clone(),
            Some(value) if !value.is_null() => value.to_string(),
            _ => return Err(format!("no value at `{pointer}` of the answer: {answer}")),
        };
        kept.insert(name.clone(), value);
    }
    Ok(())
}

/// Returns the `Authorization` header of a step's caller.
fn credential(
    sandbox: &Sandbox,
    step: &ScenarioStep,
    path: &str,
) -> Result<Option<String>, String> {
    let name = step.merchant.as_deref().unwrap_or(DEMO);
    let caller = if path.starts_with(CONTROL) { StepCredential::NoCredential } else { step.caller };
    let header = match caller {
        StepCredential::NoCredential => return Ok(None),
        StepCredential::SecretKey => basic(&key(sandbox, name, "/test/secret_key")?),
        StepCredential::PublicKey => basic(&key(sandbox, name, "/test/public_key")?),
        StepCredential::LiveSecretKey => basic(&key(sandbox, name, "/live/secret_key")?),
        StepCredential::Payments => {
            let order = json!({ "merchant": name });
            let code = control_in_process(sandbox, "POST", "/_sandbox/credentials", Some(&order))?;
            format!("Bearer {}", token(sandbox, &body_text(&code, "/authorization_code"))?)
        }
        StepCredential::Tenant => format!("Bearer {}", tenant(sandbox)?),
    };
    Ok(Some(header))
}

fn basic(key: &str) -> String {
    format!("Basic {}", BASE64.encode(format!("{key}:").as_bytes()))
}

fn key(sandbox: &Sandbox, name: &str, pointer: &str) -> Result<String, String> {
    let all = control_in_process(sandbox, "GET", "/_sandbox/credentials", None)?;
    merchant_text(&all, name, pointer).ok_or_else(|| format!("there is no merchant `{name}`"))
}

fn tenant(sandbox: &Sandbox) -> Result<String, String> {
    let all = control_in_process(sandbox, "GET", "/_sandbox/credentials", None)?;
    let body = json!({
        "client_id": body_text(&all, "/partner/client_id"),
        "client_secret": body_text(&all, "/partner/client_secret"),
        "grant_type": "client_credentials",
        "scope": "tenant",
    });
    let answer = control_in_process(sandbox, "POST", "/oauth/token", Some(&body))?;
    Ok(body_text(&answer, "/access_token"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_are_filled_in_wherever_they_stand() {
        let kept =
            KeptValues::from([("a".to_owned(), "1".to_owned()), ("b".to_owned(), "2".to_owned())]);
        assert_eq!(text("/x/${a}/y/${b}", &kept), Ok("/x/1/y/2".to_owned()));
        let filled = body(&json!({"list": [{"id": "${b}"}], "amount": 5}), &kept);
        assert_eq!(filled, Ok(json!({"list": [{"id": "2"}], "amount": 5})));
        assert_eq!(text("${c}", &kept), Err("no earlier step keeps `c`".to_owned()));
        assert_eq!(text("${a", &kept), Err("`${` is not closed in `${a`".to_owned()));
    }
}
