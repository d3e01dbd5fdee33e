//! Plays a scenario into a sandbox.

use data_encoding::BASE64;
use serde_json::{Value, json};

use super::fill::KeptValues;
use super::{Scenario, ScenarioStep, StepCredential, fill};
use crate::base::plural::count_noun;
use crate::cli::commands::sandbox::inprocess::{control, send, text, token};
use crate::cli::output::exit::CommandFailure;
use crate::sandbox::server::Sandbox;

const CONTROL: &str = "/_sandbox/";
const DEMO: &str = "demo";

/// Plays a scenario, unless it was played into this state before. Returns a report for people, with
/// the values that its steps kept.
///
/// # Errors
/// The state holds something else, or a step got another answer than it expects.
pub(crate) async fn play(sandbox: &Sandbox, scenario: &Scenario) -> Result<String, CommandFailure> {
    let before =
        control(sandbox, "GET", "/_sandbox/scenario", None).map_err(CommandFailure::bug)?;
    let (name, digest) = (&scenario.name, scenario.digest.to_string());
    if text(&before, "/digest") == digest {
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
    let order = json!({ "digest": digest });
    control(sandbox, "POST", "/_sandbox/scenario", Some(&order)).map_err(CommandFailure::bug)?;
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

/// Runs one step.
///
/// # Errors
/// The request failed, or its answer is not the expected one.
async fn run(sandbox: &Sandbox, step: &ScenarioStep, kept: &mut KeptValues) -> Result<(), String> {
    let wrong = || format!("`{}` is not a method and a path", step.request);
    let (method, path) = step.request.split_once(' ').ok_or_else(wrong)?;
    let path = fill::text(path.trim(), kept)?;
    let credential = credential(sandbox, step, &path)?;
    let body = step.body.as_ref().map(|body| fill::body(body, kept)).transpose()?;
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
            let code = control(sandbox, "POST", "/_sandbox/credentials", Some(&order))?;
            format!("Bearer {}", token(sandbox, &text(&code, "/authorization_code"))?)
        }
        StepCredential::Tenant => format!("Bearer {}", tenant(sandbox)?),
    };
    Ok(Some(header))
}

fn basic(key: &str) -> String {
    format!("Basic {}", BASE64.encode(format!("{key}:").as_bytes()))
}

/// Returns a key of a merchant.
///
/// # Errors
/// There is no merchant of that name.
fn key(sandbox: &Sandbox, name: &str, pointer: &str) -> Result<String, String> {
    let all = control(sandbox, "GET", "/_sandbox/credentials", None)?;
    let merchants = all.get("merchants").and_then(Value::as_array).into_iter().flatten();
    let mine = merchants.into_iter().find(|one| text(one, "/name") == name);
    mine.map(|one| text(one, pointer)).ok_or_else(|| format!("there is no merchant `{name}`"))
}

/// Returns the partner's own token.
fn tenant(sandbox: &Sandbox) -> Result<String, String> {
    let all = control(sandbox, "GET", "/_sandbox/credentials", None)?;
    let body = json!({
        "client_id": text(&all, "/partner/client_id"),
        "client_secret": text(&all, "/partner/client_secret"),
        "grant_type": "client_credentials",
        "scope": "tenant",
    });
    Ok(text(&control(sandbox, "POST", "/oauth/token", Some(&body))?, "/access_token"))
}
