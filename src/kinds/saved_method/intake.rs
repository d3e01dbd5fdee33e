//! A saved method whose details a payer gives: it waits for a one-time token, and is saved by it.

use serde_json::Value;

use super::source::INTAKE;
use super::step::source;
use crate::effects::good_until;
use crate::kinds::step::StepCx;
use crate::model::attachment::{Awaited, Brought};
use crate::model::manifest::Manifest;
use crate::model::observed::{Observed, Refusal};
use crate::model::plan::Reason;

/// The status of a token that is not there any more, or never was.
const NO_TOKEN: u16 = 404;
/// What is told of one that came too late.
const TOO_LATE: &str =
    "the token was not taken in time: it is good for five minutes; open the link again";

/// Whether a payer gives the details of the method.
pub fn is_intake(spec: &Value) -> bool {
    spec.get("source").is_some_and(|source| source == INTAKE)
}

/// The token that was brought, as long as it may be sent. Errors: what the method waits for.
pub(super) fn brought(
    cx: &StepCx<'_>,
    manifest: &Manifest,
    have: Option<&Observed>,
) -> Result<Brought, Reason> {
    let awaited = |trouble: Option<String>| {
        let sort = source(&manifest.spec).sort.word();
        Reason::AwaitsIntake(Box::new(Awaited { key: manifest.key.clone(), sort, trouble }))
    };
    let generation = manifest.annotations.generation;
    let known = have.and_then(|have| Some((have, Brought::of(have, generation)?)));
    let Some((have, brought)) = known else { return Err(awaited(None)) };
    if let Some(refusal) = &have.refusal {
        return Err(awaited(Some(told(refusal))));
    }
    if good_until(&brought) <= cx.now {
        return Err(awaited(Some(TOO_LATE.to_owned())));
    }
    Ok(brought)
}

/// What the service said to the token, for people.
fn told(refusal: &Refusal) -> String {
    if refusal.status == NO_TOKEN {
        return TOO_LATE.to_owned();
    }
    let messages = refusal.problem.messages.iter();
    let words: Vec<&str> =
        messages.map(|one| one.message.as_deref().unwrap_or(&one.code)).collect();
    format!("the service did not save it: {}", words.join("; "))
}
