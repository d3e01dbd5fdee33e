//! Renders trial runs: the actions that a script would request.

use serde_json::{Map, Value, json};

use crate::base::counted::counted;
use crate::hooks::cases::named;
use crate::hooks::{Failure, Source};
use crate::model::hook::{Run, Wish};
use crate::render::words::{clean, line};

/// Outcome of a run.
pub type End = Result<Run, Box<Failure>>;

/// Renders runs for programs: `{version, event, runs: [{script, function, actions, kept, log,
/// reads, operations}], failures}`.
pub fn json(event: &Value, ends: &[End], sources: &[Source]) -> Value {
    let runs: Vec<Value> = ends.iter().flatten().map(run).collect();
    let failures: Vec<Value> = ends
        .iter()
        .filter_map(|end| end.as_ref().err())
        .map(|failure| failed(failure, sources))
        .collect();
    let field = |name: &str| event.get(name).cloned().unwrap_or_default();
    let event = json!({"id": field("id"), "type": field("type"), "merchant": field("merchant"),
        "created": field("created")});
    json!({ "version": 1, "event": event, "runs": runs, "failures": failures })
}

fn run(run: &Run) -> Value {
    let actions: Vec<Value> = run.wishes.iter().map(named).collect();
    let kept: Map<String, Value> = run.kept.iter().cloned().collect();
    let reads: Vec<Value> = run
        .looks
        .iter()
        .map(|look| json!({"read": look.what, "arguments": look.arguments, "answer": look.answer}))
        .collect();
    json!({
        "script": run.script,
        "function": run.function,
        "hash": run.hash,
        "actions": actions,
        "kept": kept,
        "added": run.added.iter().cloned().collect::<Map<_, _>>(),
        "log": run.log,
        "reads": reads,
        "operations": run.operations,
    })
}

fn failed(failure: &Failure, sources: &[Source]) -> Value {
    json!({
        "script": failure.script,
        "function": failure.function,
        "why": failure.why,
        "log": failure.log,
        "problem": failure.problem(sources),
    })
}

/// Renders one run for people.
pub fn text(run: &Run) -> String {
    let mut out = String::new();
    let reads = run.looks.len();
    let (script, function) = (clean(&run.script), clean(&run.function));
    let (operations, reads) = (counted(run.operations, "operation"), counted(reads, "read"));
    line(&mut out, &format!("{script}: {function} ({operations}, {reads})"));
    for look in &run.looks {
        let arguments = look.arguments.as_array().into_iter().flatten().map(ToString::to_string);
        let arguments: Vec<String> = arguments.collect();
        line(&mut out, &clean(&format!("  reads {}({})", look.what, arguments.join(", "))));
    }
    if run.wishes.is_empty() {
        line(&mut out, "  asks for nothing");
    }
    for wish in &run.wishes {
        line(&mut out, &format!("  asks for {}", action(wish)));
    }
    for (key, value) in &run.kept {
        line(&mut out, &clean(&format!("  keeps {key}: {value}")));
    }
    for (key, number) in &run.added {
        line(&mut out, &clean(&format!("  adds to {key}: {number}")));
    }
    for told in &run.log {
        line(&mut out, &clean(&format!("  log: {told}")));
    }
    out
}

/// Renders an action in a line: `refund give-back {merchant: acme, …}`.
pub(super) fn action(wish: &Wish) -> String {
    let Value::Object(mut fields) = named(wish) else { return String::new() };
    fields.shift_remove("do");
    fields.shift_remove("name");
    let fields = fields.iter().map(|(name, value)| match value {
        Value::String(text) => format!("{name}: {text}"),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            format!("{name}: {value}")
        }
    });
    let fields: Vec<String> = fields.collect();
    clean(&format!("{} {} {{{}}}", wish.verb, wish.name, fields.join(", ")))
}
