//! Test cases of a script: an event, a state of the world, and the expected result.
//! `NAME.test.yaml` holds the cases of `NAME.rhai`.
//!
//! Warnings about former names have their places in the file. Serde reads the cases, and has no
//! places of keys and values, so a second pass reads the events of the same text. A file that is no
//! YAML has no warnings.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use saphyr_parser::{Event, Parser, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::base::clock::timestamp;
use crate::base::hash::canonical;
use crate::base::id::{Key, Name};
use crate::base::money::Money;
use crate::model::events::hook::{ActionRequest, HookRun};
use crate::model::issue::{PlacedIssue, Severity};
use crate::scripting::engine::function_name;
use crate::scripting::hooks::Hooks;
use crate::scripting::host::session::Reads;
use crate::scripting::language::limits::{TIME_MAX, on_stack};
use crate::scripting::language::names::former_name_words;
use crate::scripting::language::source::{Issues, ScriptSource};
use crate::scripting::language::values::parse;
use crate::scripting::tools::comparison;

/// Key of an action with the function that requests it.
const DO: &str = "do";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseFile {
    cases: Vec<Case>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Sentence about the script that the case proves.
    pub name: String,
    /// The event; a missing field is `()`.
    pub event: Value,
    #[serde(default)]
    pub state: CaseState,
    pub expect: ExpectedRun,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedRun {
    /// Actions in order, in the form of [`render_run`].
    #[serde(default)]
    pub actions: Vec<Value>,
    /// Stored values by key.
    #[serde(default, alias = "kept")]
    pub kv: Map<String, Value>,
    #[serde(default)]
    pub added: Map<String, Value>,
    /// Log lines; not compared if missing.
    pub log: Option<Vec<String>>,
    /// Text in the message of the expected failure.
    pub fails: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CaseResult {
    pub script: String,
    pub case: String,
    /// Difference or failure, for people; `None` for a passed case.
    #[serde(rename = "trouble")]
    pub difference: Option<String>,
}

/// Parses the cases of a file.
///
/// # Errors
/// The file is not a valid case file; the problem names the place.
pub fn parse_cases(source: &ScriptSource) -> Result<Vec<Case>, Box<PlacedIssue>> {
    let read: Result<CaseFile, _> = serde_yaml::from_str(&source.text);
    read.map(|file| file.cases).map_err(|error| {
        let place = error.location();
        let (line, column) = place.map_or((1, 1), |place| (place.line(), place.column()));
        let text = error.to_string().replace(FORMER_KEY.0, FORMER_KEY.1);
        let message = text.split(" at line ").next().unwrap_or(&text);
        let message = format!("not a file of cases: {message}");
        Box::new(PlacedIssue {
            severity: Severity::Error,
            ..source.problem((line.max(1), column.max(1)), "cases", &message, HELP)
        })
    })
}

/// Keys as serde lists them in a message, and without the former one.
const FORMER_KEY: (&str, &str) = ("`kept`, `kv`", "`kv`");

const HELP: &str = "write `cases: [{name, event, state, expect: {actions, kv, log, fails}}]`, \
    as in docs/guides/hooks.md";

pub fn run(hooks: &Hooks, script: &str, case: &Case) -> CaseResult {
    let ran = on_stack(|| run_case(hooks, script, case));
    let trouble = ran.unwrap_or_else(|| Some("the case could not be run".to_owned()));
    CaseResult { script: script.to_owned(), case: case.name.clone(), difference: trouble }
}

fn run_case(hooks: &Hooks, script: &str, case: &Case) -> Option<String> {
    let kind = case.event.get("type").and_then(Value::as_str).unwrap_or_default();
    let handler = hooks.handlers(kind).into_iter().find(|handler| handler.script == script);
    let Some(handler) = handler else {
        return Some(format!("no function of {script} handles an event of type `{kind}`"));
    };
    let reads: Arc<dyn Reads> = Arc::new(case.state.clone());
    match (hooks.run(&handler, &case.event, &reads, Some(TIME_MAX)), &case.expect.fails) {
        (Err(failure), Some(expected)) if failure.message.contains(expected) => None,
        (Err(failure), Some(expected)) => {
            Some(format!("the failure does not contain `{expected}`:\n{failure}"))
        }
        (Err(failure), None) => Some(format!("it fails:\n{failure}")),
        (Ok(_), Some(expected)) => Some(format!("it succeeds, but should fail with `{expected}`")),
        (Ok(run), None) => compare(&case.expect, &run),
    }
}

fn compare(expect: &ExpectedRun, run: &HookRun) -> Option<String> {
    let (mut expected, mut real) = (json!({}), render_run(run));
    if let (Some(expected), Some(real)) = (expected.as_object_mut(), real.as_object_mut()) {
        let actions = expect.actions.iter().map(with_function_name).collect();
        expected.insert("actions".to_owned(), Value::Array(actions));
        expected.insert("kv".to_owned(), Value::Object(expect.kv.clone()));
        if !expect.added.is_empty() {
            expected.insert("added".to_owned(), Value::Object(expect.added.clone()));
        }
        match &expect.log {
            Some(log) => drop(expected.insert("log".to_owned(), json!(log))),
            None => drop(real.remove("log")),
        }
    }
    let same = canonical(&expected) == canonical(&real);
    (!same).then(|| comparison::diff_lines(&yaml(&expected), &yaml(&real)))
}

/// Returns an expected action with the name of its function in place of its verb in the journal.
fn with_function_name(action: &Value) -> Value {
    let mut action = action.clone();
    if let Some(Value::String(verb)) = action.get_mut(DO) {
        *verb = function_name(verb).to_owned();
    }
    action
}

/// Formats a value with sorted keys, so that lines can be compared.
fn yaml(value: &Value) -> String {
    let sorted: Value = serde_json::from_slice(&canonical(value)).unwrap_or_default();
    serde_yaml::to_string(&sorted).unwrap_or_default()
}

/// Formats a run as cases write it: `{actions: [{do, merchant, …, at, name}], kv, log}`. `do` is the
/// function. Money is text. The merchant's kind is omitted, and so is a name that the script did not
/// choose.
pub fn render_run(run: &HookRun) -> Value {
    let actions: Vec<Value> = run.requests.iter().map(render_action).collect();
    let kept: Map<String, Value> = run.kept.iter().cloned().collect();
    let mut shown = json!({ "actions": actions, "kv": kept, "log": run.log });
    if let Some(shown) = shown.as_object_mut().filter(|_| !run.added.is_empty()) {
        shown.insert("added".to_owned(), run.added.iter().cloned().collect());
    }
    shown
}

fn render_action(wish: &ActionRequest) -> Value {
    let mut shown = render_unnamed(wish, function_name(&wish.verb));
    if !wish.is_named_by_content() {
        shown.insert("name".to_owned(), json!(wish.name));
    }
    Value::Object(shown)
}

/// Formats an action for programs: `do` is the verb of the journal, and the name is always there.
pub fn render_named_action(wish: &ActionRequest) -> Value {
    let mut shown = render_unnamed(wish, &wish.verb);
    shown.insert("name".to_owned(), json!(wish.name));
    Value::Object(shown)
}

fn render_unnamed(wish: &ActionRequest, what: &str) -> Map<String, Value> {
    let mut shown = Map::new();
    shown.insert(DO.to_owned(), json!(what));
    if let Some(merchant) = &wish.merchant {
        let name = merchant.short();
        shown.insert("merchant".to_owned(), json!(name.strip_prefix("Merchant/").unwrap_or(&name)));
    }
    for (name, value) in wish.fields.as_object().into_iter().flatten() {
        let money = serde_json::from_value::<Money>(value.clone());
        let value = money.map_or_else(|_| value.clone(), |money| json!(money.to_string()));
        shown.insert(name.clone(), value);
    }
    if let Some(bound) = &wish.at_most {
        let bound = json!({"key": bound.key, "count": bound.count, "seconds": bound.seconds});
        shown.insert("at_most".to_owned(), bound);
    }
    if let Some(at) = &wish.at {
        shown.insert("at".to_owned(), json!(timestamp(at)));
    }
    shown
}

// State of the world in a test case.

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CaseState {
    /// Resources, in the form that `resource` returns; the namespace may be omitted.
    pub resources: Vec<Value>,
    /// Transactions, as the service shows them.
    pub transactions: Vec<Value>,
    pub remote: Vec<CaseRemoteRead>,
    /// Values that earlier runs stored.
    pub kv: BTreeMap<String, Value>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaseRemoteRead {
    pub read: String,
    /// Arguments that the answer belongs to; each named one must match.
    #[serde(default)]
    pub args: Value,
    pub answer: Value,
}

fn text<'v>(value: &'v Value, field: &str) -> Option<&'v str> {
    value.get(field).and_then(Value::as_str)
}

fn key(resource: &Value) -> Option<Key> {
    let namespace = text(resource, "namespace").unwrap_or("default");
    let (kind, name) = (text(resource, "kind")?, text(resource, "name")?);
    format!("{kind}/{namespace}/{name}").parse().ok()
}

fn with_namespace(resource: &Value) -> Value {
    let mut resource = resource.clone();
    if let Some(fields) = resource.as_object_mut() {
        fields.entry("namespace").or_insert(Value::String(Name::default_namespace().to_string()));
    }
    resource
}

/// Returns true if a value has everything in the filter.
fn matches_filter(value: &Value, filter: &Value) -> bool {
    match (value, filter) {
        (Value::Object(value), Value::Object(filter)) => filter.iter().all(|(name, wanted)| {
            value.get(name).is_some_and(|value| matches_filter(value, wanted))
        }),
        _ => canonical(value) == canonical(filter),
    }
}

impl Reads for CaseState {
    fn resource(&self, asked: &str) -> Result<Value, String> {
        let asked: Key = parse(asked)?;
        let found = self.resources.iter().find(|resource| key(resource).as_ref() == Some(&asked));
        Ok(found.map(with_namespace).unwrap_or_default())
    }

    fn find(&self, kind: &str, filter: &Value) -> Result<Value, String> {
        let of_kind = self.resources.iter().filter(|resource| text(resource, "kind") == Some(kind));
        let mut found: Vec<Value> = of_kind
            .map(with_namespace)
            .filter(|resource| matches_filter(resource, filter))
            .collect();
        found.sort_by_key(key);
        Ok(Value::Array(found))
    }

    fn transaction(&self, id: &str) -> Result<Value, String> {
        let found = self.transactions.iter().find(|one| text(one, "id") == Some(id));
        Ok(found.cloned().unwrap_or_default())
    }

    fn remote(&self, name: &str, args: &Value) -> Result<Value, String> {
        let found = self.remote.iter().find(|one| {
            one.read == name && (one.args.is_null() || matches_filter(args, &one.args))
        });
        let missing = || format!("the case has no answer for the read `{name}` with {args}");
        found.map(|one| one.answer.clone()).ok_or_else(missing)
    }

    fn kv(&self, _script: &str, key: &str) -> Result<Value, String> {
        Ok(self.kv.get(key).cloned().unwrap_or_default())
    }
}

/// Former key of the stored values, below [`EXPECT`], and the present one.
const STORED: (&str, &str) = ("kept", "kv");
/// Keys above the expected result of a case.
const EXPECT: [&str; 2] = ["cases", "expect"];
const FUNCTION: [&str; 4] = ["cases", "expect", "actions", DO];

/// Returns a warning for each former name in the cases of a file.
pub fn former_name_warnings(source: &ScriptSource) -> Issues {
    let mut walk = CaseWalk { source, frames: Vec::new(), warnings: Vec::new() };
    for event in Parser::new_from_str(&source.text) {
        let Ok((event, span)) = event else { return Vec::new() };
        walk.event(event, span);
    }
    walk.warnings
}

/// An open collection.
struct Frame {
    is_map: bool,
    /// The key whose value comes next.
    key: Option<String>,
}

struct CaseWalk<'a> {
    source: &'a ScriptSource,
    /// Open collections, the innermost one last.
    frames: Vec<Frame>,
    warnings: Issues,
}

impl CaseWalk<'_> {
    fn event(&mut self, event: Event<'_>, span: Span) {
        match event {
            Event::MappingStart(..) => self.frames.push(Frame { is_map: true, key: None }),
            Event::SequenceStart(..) => self.frames.push(Frame { is_map: false, key: None }),
            Event::MappingEnd | Event::SequenceEnd => {
                self.frames.pop();
                self.end_value();
            }
            Event::Scalar(text, ..) => self.scalar(&text, span),
            Event::Alias(_) => self.scalar(&Cow::Borrowed(""), span),
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => {}
        }
    }

    /// Notes that the value of the innermost key is complete.
    fn end_value(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.key = None;
        }
    }

    fn scalar(&mut self, text: &str, span: Span) {
        let is_key = self.frames.last().is_some_and(|frame| frame.is_map && frame.key.is_none());
        let keys = self.frames.iter().filter_map(|frame| frame.key.as_deref());
        if is_key && text == STORED.0 && keys.clone().eq(EXPECT) {
            self.warn(text, STORED.1, span);
        } else if !is_key && keys.eq(FUNCTION) && function_name(text) != text {
            self.warn(text, function_name(text), span);
        }
        match self.frames.last_mut() {
            Some(frame) if is_key => frame.key = Some(text.to_owned()),
            _ => self.end_value(),
        }
    }

    fn warn(&mut self, former: &str, name: &str, span: Span) {
        let (message, help) = former_name_words(former, name);
        let place = (span.start.line(), span.start.col().saturating_add(1));
        let problem = self.source.problem(place, "former_name", &message, &help);
        self.warnings.push(PlacedIssue { severity: Severity::Warning, ..problem });
    }
}

#[cfg(test)]
mod tests;
