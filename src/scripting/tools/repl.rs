//! Interactive evaluation of script lines, with all host functions, under the limits of a run.
//!
//! A failed line requests no action and stores no value. The actions of others are never performed.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use rhai::{AST, Dynamic, Engine, ParseError, ParseErrorType, Scope};
use serde_json::Value;

use crate::base::id::Key;
use crate::base::money::Money;
use crate::model::events::hook::ActionRequest;
use crate::model::issue::PlacedIssue;
use crate::policy::ScriptPower;
use crate::scripting::check::syntax;
use crate::scripting::engine::classify_error;
use crate::scripting::hooks::Hooks;
use crate::scripting::host::script_event::{EventOrigin, remove_private_of_event};
use crate::scripting::host::session::{Reads, RunOutput, RunSession};
use crate::scripting::language::json::{to_json, untrusted_to_dynamic};
use crate::scripting::language::limits::DeadlineGuard;
use crate::scripting::language::names::ScriptNames;
use crate::scripting::language::source::ScriptSource;
use crate::scripting::language::values::ScriptMoment;
use crate::scripting::loader;

/// Name of the typed text in problems.
pub const SOURCE_NAME: &str = "repl";
const EVENT: &str = "event";
/// Owner of the stored values if no script is named.
const NO_SCRIPT: &str = "repl";
/// Start of a line with an import, which later lines see too.
const IMPORT: &str = "import ";

/// A session: variables, functions, and the action requests so far.
#[derive(derive_more::Debug)]
#[debug("Repl({} actions)", actions.len())]
pub struct Repl {
    engine: Engine,
    names: Arc<ScriptNames>,
    scope: Scope<'static>,
    functions: AST,
    imports: String,
    script: String,
    origin: EventOrigin,
    actions: Vec<ActionRequest>,
    stored: BTreeMap<String, Value>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Evaluated {
    /// Value in its written form; `None` for `()`.
    pub value: Option<String>,
    pub actions: Vec<ActionRequest>,
    /// Values that changed, by key.
    pub stored: Vec<(String, Value)>,
    pub log: Vec<String>,
    pub reads: usize,
}

#[derive(Debug)]
pub enum ReplOutcome {
    Done(Evaluated),
    /// The line is incomplete; the next line continues it.
    Incomplete,
    Failed(Box<PlacedIssue>),
}

impl Repl {
    /// Returns a session over a valid set, with its names and its modules.
    pub fn new(hooks: &Hooks, sources: &[ScriptSource]) -> Self {
        Self {
            engine: loader::experiment_engine(sources),
            names: hooks.names.clone(),
            scope: Scope::new(),
            functions: AST::empty(),
            imports: String::new(),
            script: NO_SCRIPT.to_owned(),
            origin: EventOrigin::default(),
            actions: Vec::new(),
            stored: BTreeMap::new(),
        }
    }

    /// Sets the variable `event`, and the merchant of later actions. Clears the collected requests.
    pub fn bind(&mut self, event: &Value) {
        self.origin = EventOrigin::from_event(event);
        let personal = self.names.configured.rights.allows(ScriptPower::Personal, self.merchant());
        let mut event = untrusted_to_dynamic(event);
        remove_private_of_event(&mut event, personal);
        self.scope.set_value(EVENT, event);
        self.clear();
    }

    /// Reads the stored values of this script from now on.
    pub fn set_script(&mut self, script: &str) {
        script.clone_into(&mut self.script);
    }

    pub fn merchant(&self) -> Option<&Key> {
        self.origin.merchant.as_ref()
    }

    pub fn actions(&self) -> &[ActionRequest] {
        &self.actions
    }

    pub fn stored(&self) -> &BTreeMap<String, Value> {
        &self.stored
    }

    pub fn clear(&mut self) {
        self.actions.clear();
        self.stored.clear();
    }

    /// Evaluates a text on this thread, which needs [`crate::scripting::language::limits::STACK_BYTES`] of stack.
    pub fn evaluate(
        &mut self,
        text: &str,
        reads: Arc<dyn Reads>,
        time: Option<Duration>,
    ) -> ReplOutcome {
        let tree = match self.engine.compile_with_scope(&self.scope, [&self.imports, text].concat())
        {
            Ok(tree) => tree,
            Err(error) if is_incomplete(&error, text) => return ReplOutcome::Incomplete,
            Err(error) => {
                let problem = syntax::problem(&source(text), &error);
                return ReplOutcome::Failed(Box::new(self.without_imports(problem)));
            }
        };
        let session = RunSession::new(&self.script, self.origin.clone(), self.names.clone(), reads);
        let session = session.continuing(self.stored.clone());
        self.engine.set_default_tag(Dynamic::from(session.clone()));
        let size = self.scope.len();
        let whole = self.functions.merge(&tree);
        let timed = DeadlineGuard::start(time);
        let ended = catch_unwind(AssertUnwindSafe(|| {
            self.engine.eval_ast_with_scope::<Dynamic>(&mut self.scope, &whole)
        }));
        drop(timed);
        self.engine.set_default_tag(Dynamic::UNIT);
        let wrong = |message: &str, place| {
            let help = "the actions that this line requested before are dropped";
            self.without_imports(source(text).problem(place, "run", message, help))
        };
        let problem = match ended {
            Ok(Ok(value)) => {
                return ReplOutcome::Done(self.record(text, &whole, &value, session.take()));
            }
            Ok(Err(error)) => {
                let (_, message, place) = classify_error(&error);
                wrong(&message, place.unwrap_or((1, 1)))
            }
            Err(_) => wrong("internal error: the line panicked", (1, 1)),
        };
        self.scope.rewind(size);
        ReplOutcome::Failed(Box::new(problem))
    }

    fn record(&mut self, text: &str, whole: &AST, value: &Dynamic, done: RunOutput) -> Evaluated {
        self.functions = whole.clone_functions_only();
        if text.trim_start().starts_with(IMPORT) {
            let line = text.trim().replace('\n', " ");
            self.imports.extend([line.trim_end_matches(';'), "; "]);
        }
        let RunOutput { mut actions, stored: mut kept, added, reads, log, answers: _ } = done;
        kept.extend(added);
        actions.retain(|action| !self.actions.contains(action));
        self.actions.extend(actions.iter().cloned());
        let changed = kept.iter().filter(|(key, value)| self.stored.get(*key) != Some(*value));
        let stored = changed.map(|(key, value)| (key.clone(), value.clone())).collect();
        self.stored = kept;
        Evaluated { value: render_value(value), actions, stored, log, reads: reads.len() }
    }

    /// Moves a problem left by the hidden imports before the first line.
    fn without_imports(&self, problem: PlacedIssue) -> PlacedIssue {
        let hidden = if problem.line == 1 { self.imports.chars().count() } else { 0 };
        let column = problem.column.saturating_sub(hidden).max(1);
        PlacedIssue { column, ..problem }
    }
}

/// Returns the typed text as a file.
pub fn source(text: &str) -> ScriptSource {
    ScriptSource::named(SOURCE_NAME, text)
}

/// Returns true if a text is not wrong, but incomplete.
fn is_incomplete(error: &ParseError, text: &str) -> bool {
    let lines = text.lines().count().max(1);
    let last = text.lines().last().map_or(0, |line| line.trim_end().chars().count());
    let behind = error.position().line().is_none_or(|line| {
        line > lines || (line == lines && error.position().position().is_none_or(|at| at > last))
    });
    let kind = error.err_type();
    matches!(kind, ParseErrorType::UnexpectedEOF)
        || (behind
            && matches!(kind, ParseErrorType::MissingToken(..) | ParseErrorType::ExprExpected(_)))
}

/// Formats a value for people; `None` for `()`.
fn render_value(value: &Dynamic) -> Option<String> {
    if value.is_unit() {
        return None;
    }
    let is_written = value.is::<Money>() || value.is::<ScriptMoment>();
    Some(match to_json(value) {
        Ok(Value::String(text)) if is_written => text,
        Ok(value) => value.to_string(),
        Err(_) => value.to_string(),
    })
}

#[cfg(test)]
mod tests;
