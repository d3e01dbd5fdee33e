//! Evidence, answer by answer: what the effects that move money make of it. What is common to all stands here.

mod asked;
mod money;
mod state;

use serde_json::{Value, json};

use super::register::Answer;
use super::testing::{intent, judged};
use super::{Effect, effect_row};
use crate::api::Message;
use crate::model::service_problem::ServiceProblem;

/// What this effect makes of the answers, given what was known before it was sent.
fn check(effect: &str, expect: &Value, before: Value, answers: &[Answer]) -> String {
    judged(&intent(effect, expect, before), answers)
}

fn body(value: Value) -> Answer {
    Answer::Body(value)
}

/// The answer of a service that has the path, and not the item.
fn no_item() -> Answer {
    let message = Message::new("resource_not_found", "Resource not found").about("Transaction[t]");
    Answer::Missing(ServiceProblem::told(vec![message]))
}

/// An event of this number about a transaction.
fn event(number: u32, data: &Value) -> Value {
    let created = format!("2030-01-01T00:00:{number:02}.000Z");
    json!({"id": format!("e{number}"), "created": created, "type": "transaction.updated", "data": data})
}

/// Why an effect is not sent, given what was read just before.
fn refused(effect: &Effect, before: &Value) -> Option<String> {
    (effect_row(effect.name).unwrap().baseline.unwrap().refuse)(effect, before)
}

/// What is kept of the answers to what is asked before an effect.
fn kept(effect: &Effect, answers: &[Answer]) -> Value {
    let baseline = effect_row(effect.name).unwrap().baseline.unwrap();
    assert_eq!((baseline.queries)(effect).len(), answers.len());
    (baseline.keep)(answers)
}
