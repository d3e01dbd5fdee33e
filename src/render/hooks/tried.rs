//! Renders trial runs: the actions that a script would request.

use serde_json::{Map, Value, json};

use crate::base::wording::count_noun;
use crate::model::events::hook::{ActionRequest, HookRun};
use crate::render::words::{clean, push_line};
use crate::scripting::host::register::function_name;
use crate::scripting::language::source::ScriptSource;
use crate::scripting::run::failure::RunFailure;
use crate::scripting::tools::testcases::render_named_action;

/// Outcome of a run.
pub type TrialOutcome = Result<HookRun, Box<RunFailure>>;

/// Renders runs for programs: `{version, event, runs: [{script, function, actions, kept, log,
/// reads, operations}], failures}`.
pub fn json(event: &Value, ends: &[TrialOutcome], sources: &[ScriptSource]) -> Value {
    let runs: Vec<Value> = ends.iter().flatten().map(run_json).collect();
    let failures: Vec<Value> = ends
        .iter()
        .filter_map(|end| end.as_ref().err())
        .map(|failure| failure_json(failure, sources))
        .collect();
    let field = |name: &str| event.get(name).cloned().unwrap_or_default();
    let event = json!({"id": field("id"), "type": field("type"), "merchant": field("merchant"),
        "created": field("created")});
    json!({ "version": 1, "event": event, "runs": runs, "failures": failures })
}

fn run_json(run: &HookRun) -> Value {
    let actions: Vec<Value> = run.requests.iter().map(render_named_action).collect();
    let kept: Map<String, Value> = run.kept.iter().cloned().collect();
    let reads: Vec<Value> = run
        .reads
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

fn failure_json(failure: &RunFailure, sources: &[ScriptSource]) -> Value {
    json!({
        "script": failure.script,
        "function": failure.function,
        "why": failure.cause,
        "log": failure.log,
        "problem": failure.problem(sources),
    })
}

/// Renders one run for people.
pub fn text(run: &HookRun) -> String {
    let mut out = String::new();
    let reads = run.reads.len();
    let (script, function) = (clean(&run.script), clean(&run.function));
    let (operations, reads) = (count_noun(run.operations, "operation"), count_noun(reads, "read"));
    push_line(&mut out, &format!("{script}: {function} ({operations}, {reads})"));
    for look in &run.reads {
        let arguments = look.arguments.as_array().into_iter().flatten().map(ToString::to_string);
        let arguments: Vec<String> = arguments.collect();
        let (read, arguments) = (function_name(&look.what), arguments.join(", "));
        push_line(&mut out, &clean(&format!("  reads {read}({arguments})")));
    }
    if run.requests.is_empty() {
        push_line(&mut out, "  requests nothing");
    }
    for wish in &run.requests {
        push_line(&mut out, &format!("  requests {}", action_line(wish)));
    }
    for (key, value) in &run.kept {
        push_line(&mut out, &clean(&format!("  keeps {key}: {value}")));
    }
    for (key, number) in &run.added {
        push_line(&mut out, &clean(&format!("  adds to {key}: {number}")));
    }
    for line in &run.log {
        push_line(&mut out, &clean(&format!("  log: {line}")));
    }
    out
}

/// Renders an action in a line: `refund give-back {merchant: acme, …}`.
pub(super) fn action_line(wish: &ActionRequest) -> String {
    let Value::Object(mut fields) = render_named_action(wish) else { return String::new() };
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
