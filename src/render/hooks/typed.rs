//! Renders the results of interactively typed script lines.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::tried::action_line;
use crate::model::events::hook::ActionRequest;
use crate::model::issue::PlacedIssue;
use crate::render::diagnostic;
use crate::render::diagnostic::{OutputStyle, Sources};
use crate::render::words::{clean, push_line};
use crate::scripting::tools::repl::{Evaluated, SOURCE_NAME};
use crate::scripting::tools::testcases::render_named_action;
use crate::spec::text::lines;
use crate::spec::text::mask::MaskedSource;

/// Renders one line's result for people.
pub fn text(done: &Evaluated) -> String {
    let mut out = String::new();
    if let Some(value) = &done.value {
        push_line(&mut out, &clean(value));
    }
    for line in &done.log {
        push_line(&mut out, &clean(&format!("  log: {line}")));
    }
    out.push_str(&request_lines(
        &done.actions,
        done.stored.iter().map(|(key, value)| (key, value)),
    ));
    out
}

/// Renders all requests so far.
pub fn requests(wishes: &[ActionRequest], kept: &BTreeMap<String, Value>) -> String {
    let out = request_lines(wishes, kept.iter());
    if out.is_empty() { "no requested actions\n".to_owned() } else { out }
}

fn request_lines<'a>(
    wishes: &[ActionRequest],
    kept: impl Iterator<Item = (&'a String, &'a Value)>,
) -> String {
    let mut out = String::new();
    for wish in wishes {
        push_line(&mut out, &format!("  requests {}", action_line(wish)));
    }
    for (key, value) in kept {
        push_line(&mut out, &clean(&format!("  keeps {key}: {value}")));
    }
    out
}

/// Renders one line's result for programs: `{value, actions, kept, log, reads}`.
pub fn json(done: &Evaluated) -> Value {
    let kept: Map<String, Value> = done.stored.iter().cloned().collect();
    let mut shown = requests_json(&done.actions, &kept);
    if let Some(shown) = shown.as_object_mut() {
        shown.insert("value".to_owned(), json!(done.value));
        shown.insert("log".to_owned(), json!(done.log));
        shown.insert("reads".to_owned(), json!(done.reads));
    }
    shown
}

/// Renders actions and stored values for programs.
pub fn requests_json(requests: &[ActionRequest], kept: &Map<String, Value>) -> Value {
    json!({ "actions": requests.iter().map(render_named_action).collect::<Vec<Value>>(), "kept": kept })
}

/// Renders a problem with a snippet of the typed text.
pub fn problem(typed: &str, problem: &PlacedIssue, look: OutputStyle) -> String {
    let text = lines::SourceText::new(Arc::from(SOURCE_NAME), Arc::from(typed));
    let sources: Sources = [(SOURCE_NAME.to_owned(), MaskedSource::new(&text, &[]))].into();
    diagnostic::text(std::slice::from_ref(problem), &sources, look)
}
