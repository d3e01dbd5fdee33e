//! Evidence, answer by answer: the judgement of the effects that move money. Holds the helpers
//! common to all.

mod asked;
mod money;
mod state;

use serde_json::{Value, json};

use crate::api::rules::ProblemMessage;
use crate::effects::core::row::RemoteAnswer;
use crate::effects::register::effect_row;
use crate::effects::testing::{intent, judged};
use crate::model::effect::Effect;
use crate::model::outcome::ServiceProblem;

/// Judges the answers for this effect, given its baseline.
fn check(effect: &str, expect: &Value, before: Value, answers: &[RemoteAnswer]) -> String {
    judged(&intent(effect, expect, before), answers)
}

fn body(value: Value) -> RemoteAnswer {
    RemoteAnswer::Body(value)
}

/// Returns the answer of a service that has the path, but not the item.
fn no_item() -> RemoteAnswer {
    let message = ProblemMessage::new("resource_not_found", "Resource not found")
        .with_context("Transaction[t]");
    RemoteAnswer::Missing(ServiceProblem::from_messages(vec![message]))
}

/// Returns an event of this number about a transaction.
fn event(number: u32, data: &Value) -> Value {
    let created = format!("2030-01-01T00:00:{number:02}.000Z");
    json!({"id": format!("e{number}"), "created": created, "type": "transaction.updated", "data": data})
}

/// Returns the reason not to send an effect, given the read just before.
fn refused(effect: &Effect, before: &Value) -> Option<String> {
    (effect_row(effect.name).unwrap().baseline.unwrap().refuse)(effect, before)
}

/// Returns the stored part of the answers to an effect's baseline reads.
fn kept(effect: &Effect, answers: &[RemoteAnswer]) -> Value {
    let baseline = effect_row(effect.name).unwrap().baseline.unwrap();
    assert_eq!((baseline.queries)(effect).len(), answers.len());
    (baseline.keep)(answers)
}
