//! Renders the results of interactively typed script lines.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::tried::action;
use crate::hooks::cases::named;
use crate::hooks::repl::{Evaluated, SHOWN};
use crate::model::hook::Wish;
use crate::model::issue::Problem;
use crate::render::diagnostic::{self, Look, Sources};
use crate::render::words::{clean, line};
use crate::spec::lines;
use crate::spec::mask::MaskedSource;

/// Renders one line's result for people.
pub fn text(done: &Evaluated) -> String {
    let mut out = String::new();
    if let Some(value) = &done.value {
        line(&mut out, &clean(value));
    }
    for told in &done.log {
        line(&mut out, &clean(&format!("  log: {told}")));
    }
    out.push_str(&asked(&done.wishes, done.kept.iter().map(|(key, value)| (key, value))));
    out
}

/// Renders all requests so far.
pub fn all(wishes: &[Wish], kept: &BTreeMap<String, Value>) -> String {
    let out = asked(wishes, kept.iter());
    if out.is_empty() { "nothing is asked for\n".to_owned() } else { out }
}

fn asked<'a>(wishes: &[Wish], kept: impl Iterator<Item = (&'a String, &'a Value)>) -> String {
    let mut out = String::new();
    for wish in wishes {
        line(&mut out, &format!("  asks for {}", action(wish)));
    }
    for (key, value) in kept {
        line(&mut out, &clean(&format!("  keeps {key}: {value}")));
    }
    out
}

/// Renders one line's result for programs: `{value, actions, kept, log, reads}`.
pub fn json(done: &Evaluated) -> Value {
    let kept: Map<String, Value> = done.kept.iter().cloned().collect();
    let mut shown = all_json(&done.wishes, &kept);
    if let Some(shown) = shown.as_object_mut() {
        shown.insert("value".to_owned(), json!(done.value));
        shown.insert("log".to_owned(), json!(done.log));
        shown.insert("reads".to_owned(), json!(done.reads));
    }
    shown
}

/// Renders actions and stored values for programs.
pub fn all_json(wishes: &[Wish], kept: &Map<String, Value>) -> Value {
    json!({ "actions": wishes.iter().map(named).collect::<Vec<Value>>(), "kept": kept })
}

/// Renders a problem with a snippet of the typed text.
pub fn problem(typed: &str, problem: &Problem, look: Look) -> String {
    let text = lines::Source::new(Arc::from(SHOWN), Arc::from(typed));
    let sources: Sources = [(SHOWN.to_owned(), MaskedSource::new(&text, &[]))].into();
    diagnostic::text(std::slice::from_ref(problem), &sources, look)
}
