//! Hooks as data for programs: trials, differences, answers of the interpreter, results of cases.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::base::hash::Digest;
use crate::engine::protocol::hooks::{QuotasView, ScriptView};
use crate::model::events::hook::{ActionRequest, HookRead, HookRun};
use crate::model::issue::PlacedIssue;
use crate::scripting::engine::{FailureCause, RunFailure};
use crate::scripting::language::source::ScriptSource;
use crate::scripting::tools::comparison::RunDifferences;
use crate::scripting::tools::repl::Evaluated;
use crate::scripting::tools::testcases::{CaseResult, render_named_action};

pub type TrialOutcome = Result<HookRun, Box<RunFailure>>;

/// Output of `hooks list -o json`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ScriptsView<'a> {
    pub version: u32,
    pub scripts: &'a [ScriptView],
    pub quotas: &'a QuotasView,
}

/// Output of `hooks test -o json`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CaseResultsView<'a> {
    version: u32,
    cases: usize,
    failed: usize,
    items: &'a [CaseResult],
}

impl<'a> CaseResultsView<'a> {
    pub fn new(items: &'a [CaseResult]) -> Self {
        Self { version: 1, cases: items.len(), failed: failed_count(items), items }
    }
}

/// Counts the cases that failed.
pub(super) fn failed_count(verdicts: &[CaseResult]) -> usize {
    verdicts.iter().filter(|verdict| verdict.difference.is_some()).count()
}

/// Output of `hooks try -o json`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TrialView<'a> {
    version: u32,
    event: TrialEvent<'a>,
    runs: Vec<TrialRunView<'a>>,
    failures: Vec<TrialFailureView<'a>>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct TrialEvent<'a> {
    id: Option<&'a str>,
    r#type: Option<&'a str>,
    merchant: Option<&'a str>,
    created: Option<&'a str>,
}

/// A run of one script, of which nothing is done.
#[derive(Debug, Serialize, JsonSchema)]
struct TrialRunView<'a> {
    script: &'a str,
    function: &'a str,
    hash: &'a Digest,
    /// Requested actions: `do`, `name` and the fields of the action.
    actions: Vec<Value>,
    /// Values that the script keeps, by key.
    kept: Map<String, Value>,
    /// Additions to kept values, by key.
    added: Map<String, Value>,
    log: &'a [String],
    reads: Vec<TrialRead<'a>>,
    operations: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct TrialRead<'a> {
    read: &'a str,
    arguments: &'a Value,
    /// The digest of the answer.
    answer: &'a Digest,
}

#[derive(Debug, Serialize, JsonSchema)]
struct TrialFailureView<'a> {
    script: &'a str,
    function: &'a str,
    why: FailureCause,
    log: &'a [String],
    problem: PlacedIssue,
}

impl<'a> TrialView<'a> {
    pub fn new(event: &'a Value, ends: &'a [TrialOutcome], sources: &[ScriptSource]) -> Self {
        let field = |name: &str| event.get(name).and_then(Value::as_str);
        let failures = ends.iter().filter_map(|end| end.as_ref().err());
        Self {
            version: 1,
            event: TrialEvent {
                id: field("id"),
                r#type: field("type"),
                merchant: field("merchant"),
                created: field("created"),
            },
            runs: ends.iter().flatten().map(TrialRunView::from).collect(),
            failures: failures.map(|failure| TrialFailureView::new(failure, sources)).collect(),
        }
    }
}

impl<'a> From<&'a HookRun> for TrialRunView<'a> {
    fn from(run: &'a HookRun) -> Self {
        let read = |read: &'a HookRead| TrialRead {
            read: &read.what,
            arguments: &read.arguments,
            answer: &read.answer,
        };
        Self {
            script: &run.script,
            function: &run.function,
            hash: &run.hash,
            actions: run.requests.iter().map(render_named_action).collect(),
            kept: run.kept.iter().cloned().collect(),
            added: run.added.iter().cloned().collect(),
            log: &run.log,
            reads: run.reads.iter().map(read).collect(),
            operations: run.operations,
        }
    }
}

impl<'a> TrialFailureView<'a> {
    fn new(failure: &'a RunFailure, sources: &[ScriptSource]) -> Self {
        let RunFailure { script, function, cause, message: _, place: _, log } = failure;
        Self { script, function, why: *cause, log, problem: failure.problem(sources) }
    }
}

/// One line of `hooks repl -o json`: the answer to one input.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ReplLine {
    Evaluated {
        actions: Vec<Value>,
        kept: Map<String, Value>,
        value: Option<String>,
        log: Vec<String>,
        reads: usize,
    },
    /// All requested actions, and all kept values.
    Requests { actions: Vec<Value>, kept: Map<String, Value> },
    /// An error in the script.
    Failed { problem: Box<PlacedIssue> },
    /// An input that was not evaluated.
    Refused { problem: ReplRefusal },
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct ReplRefusal {
    pub message: String,
}

impl ReplLine {
    pub fn requests(requests: &[ActionRequest], kept: &BTreeMap<String, Value>) -> Self {
        Self::Requests {
            actions: requests.iter().map(render_named_action).collect(),
            kept: kept.clone().into_iter().collect(),
        }
    }
}

impl From<&Evaluated> for ReplLine {
    fn from(done: &Evaluated) -> Self {
        Self::Evaluated {
            actions: done.actions.iter().map(render_named_action).collect(),
            kept: done.stored.iter().cloned().collect(),
            value: done.value.clone(),
            log: done.log.clone(),
            reads: done.reads,
        }
    }
}

/// Differences between two sets of runs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DifferencesView {
    added: Vec<Value>,
    gone: Vec<Value>,
    changed: Vec<ChangedAction>,
    kept: Vec<ChangedKeptValue>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ChangedAction {
    before: Value,
    after: Value,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ChangedKeptValue {
    script: String,
    key: String,
    before: Option<Value>,
    after: Option<Value>,
}

impl From<&RunDifferences> for DifferencesView {
    fn from(found: &RunDifferences) -> Self {
        let RunDifferences { added, removed, changed, kept } = found;
        let all = |requests: &[_]| requests.iter().map(render_named_action).collect();
        let changed = changed.iter().map(|(before, after)| ChangedAction {
            before: render_named_action(before),
            after: render_named_action(after),
        });
        let kept = kept.iter().cloned();
        let kept = kept.map(|(script, key, before, after)| ChangedKeptValue {
            script,
            key,
            before,
            after,
        });
        Self {
            added: all(added),
            gone: all(removed),
            changed: changed.collect(),
            kept: kept.collect(),
        }
    }
}
