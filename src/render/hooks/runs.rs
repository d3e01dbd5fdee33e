//! Renders runs of scripts: trial runs with the actions that they would request, interactively
//! typed lines, and the differences between the present scripts' actions and the real ones.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::base::wording::count_noun;
use crate::model::events::hook::{ActionRequest, HookRun};
use crate::model::issue::PlacedIssue;
use crate::render::diagnostic::{self, OutputStyle};
use crate::render::hooks::views::DifferencesView;
use crate::render::words::{Screen, clean, push_line};
use crate::scripting::engine::function_name;
use crate::scripting::tools::comparison::RunDifferences;
use crate::scripting::tools::repl::{Evaluated, SOURCE_NAME};
use crate::scripting::tools::testcases::render_named_action;

pub fn run_text(run: &HookRun) -> String {
    let mut out = String::new();
    let reads = run.reads.len();
    let (script, function) = (clean(&run.script), clean(&run.function));
    let (operations, reads) = (count_noun(run.operations, "operation"), count_noun(reads, "read"));
    push_line!(out, "{script}: {function} ({operations}, {reads})");
    for look in &run.reads {
        let arguments = look.arguments.as_array().into_iter().flatten().map(ToString::to_string);
        let arguments: Vec<String> = arguments.collect();
        let (read, arguments) = (function_name(&look.what), arguments.join(", "));
        push_line!(out, "{}", clean(&format!("  reads {read}({arguments})")));
    }
    if run.requests.is_empty() {
        push_line!(out, "  requests nothing");
    }
    request_lines(&mut out, &run.requests, run.kept.iter().map(|(key, value)| (key, value)));
    for (key, number) in &run.added {
        push_line!(out, "{}", clean(&format!("  adds to {key}: {number}")));
    }
    for line in &run.log {
        push_line!(out, "{}", clean(&format!("  log: {line}")));
    }
    out
}

/// Renders an action in a line: `refund give-back {merchant: acme, …}`.
pub(super) fn action_line(wish: &ActionRequest) -> String {
    let Value::Object(mut fields) = render_named_action(wish) else { return String::new() };
    fields.shift_remove("do");
    fields.shift_remove("name");
    let fields = fields.iter().map(|(name, value)| match value.as_str() {
        Some(text) => format!("{name}: {text}"),
        None => format!("{name}: {value}"),
    });
    let fields: Vec<String> = fields.collect();
    clean(&format!("{} {} {{{}}}", wish.verb, wish.name, fields.join(", ")))
}

pub fn evaluated_text(done: &Evaluated) -> String {
    let mut out = String::new();
    if let Some(value) = &done.value {
        push_line!(out, "{}", clean(value));
    }
    for line in &done.log {
        push_line!(out, "{}", clean(&format!("  log: {line}")));
    }
    request_lines(&mut out, &done.actions, done.stored.iter().map(|(key, value)| (key, value)));
    out
}

pub fn requests_text(wishes: &[ActionRequest], kept: &BTreeMap<String, Value>) -> String {
    let mut out = String::new();
    request_lines(&mut out, wishes, kept.iter());
    if out.is_empty() { "no requested actions\n".to_owned() } else { out }
}

fn request_lines<'a>(
    out: &mut String,
    wishes: &[ActionRequest],
    kept: impl Iterator<Item = (&'a String, &'a Value)>,
) {
    for wish in wishes {
        push_line!(out, "  requests {}", action_line(wish));
    }
    for (key, value) in kept {
        push_line!(out, "{}", clean(&format!("  keeps {key}: {value}")));
    }
}

pub fn typed_problem(typed: &str, problem: &PlacedIssue, look: OutputStyle) -> String {
    let sources = [diagnostic::source_of(SOURCE_NAME, Arc::from(typed))].into();
    diagnostic::text(std::slice::from_ref(problem), &sources, look)
}

#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct HooksDiff {
    pub version: u8,
    pub since: String,
    pub events: usize,
    /// Events with unchanged results.
    pub same: usize,
    /// Events whose body was erased.
    pub unreadable: usize,
    /// Reads with a recorded answer.
    #[serde(rename = "reads_of_then")]
    pub recorded_reads: usize,
    /// Reads without a recorded answer, which used the present state.
    #[serde(rename = "reads_of_now")]
    pub present_reads: usize,
    pub items: Vec<EventDiff>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct EventDiff {
    pub event: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub merchant: String,
    pub created: String,
    /// Reads of this event that used the present state.
    #[serde(rename = "reads_of_now")]
    pub present_reads: usize,
    #[serde(serialize_with = "serialize_differences")]
    #[schemars(with = "DifferencesView")]
    pub differences: RunDifferences,
    /// Scripts that fail only now, with their messages.
    pub fails: Vec<(String, String)>,
    /// Scripts that failed before and succeed now.
    #[serde(rename = "mended")]
    pub fixed: Vec<String>,
}

fn serialize_differences<S: serde::Serializer>(
    found: &RunDifferences,
    out: S,
) -> Result<S::Ok, S::Error> {
    DifferencesView::from(found).serialize(out)
}

/// Renders for people: each changed event as a diff, then the counts.
pub fn comparison_text(shadow: &HooksDiff, screen: Screen) -> String {
    let mut out = String::new();
    for item in &shadow.items {
        event_diff(&mut out, screen, item);
    }
    let (events, differ) = (count_noun(shadow.events, "event"), shadow.items.len());
    let since = &shadow.since;
    push_line!(out, "{events} since {since}: {} the same, {differ} different.", shadow.same);
    if shadow.unreadable > 0 {
        push_line!(out, "{} can no longer be read.", count_noun(shadow.unreadable, "event"));
    }
    if shadow.present_reads > 0 {
        let (now, then) = (shadow.present_reads, shadow.recorded_reads);
        push_line!(
            out,
            "{} answered from the present state, {then} as recorded: the former can cause \
            differences.",
            count_noun(now, "read")
        );
    }
    out
}

fn event_diff(out: &mut String, screen: Screen, item: &EventDiff) {
    let EventDiff { event, kind, merchant, created, .. } = item;
    push_line!(out, "{}", screen.bold(&clean(&format!("{created} {kind} {event} {merchant}"))));
    let RunDifferences { added, removed: gone, changed, kept } = &item.differences;
    for wish in gone {
        push_line!(out, "  - {}", action_line(wish));
    }
    for (before, after) in changed {
        push_line!(out, "  - {}", action_line(before));
        push_line!(out, "  + {}", action_line(after));
    }
    for wish in added {
        push_line!(out, "  + {}", action_line(wish));
    }
    let value =
        |value: &Option<Value>| value.as_ref().map_or("nothing".to_owned(), Value::to_string);
    for (script, key, before, after) in kept {
        let text = format!("  ~ {script} keeps {key}: {} → {}", value(before), value(after));
        push_line!(out, "{}", clean(&text));
    }
    for (script, why) in &item.fails {
        push_line!(out, "{}", clean(&format!("  ! {script} fails now: {why}")));
    }
    for script in &item.fixed {
        push_line!(out, "{}", clean(&format!("  ! {script} failed then, and succeeds now")));
    }
    if item.present_reads > 0 {
        push_line!(out, "    ({} from the present state)", count_noun(item.present_reads, "read"));
    }
}
