//! Interactive evaluation of script lines, with all host functions, under the limits of a run.
//!
//! A failed line requests no action and stores no value. The action requests of other lines are
//! collected, and never performed.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use rhai::{AST, Dynamic, Engine, ParseError, ParseErrorType, Scope};
use serde_json::Value;

use super::bound::Timed;
use super::failure::told;
use super::given::About;
use super::json::{foreign, json};
use super::names::Names;
use super::private::close_event;
use super::session::{Done, Session};
use super::values::Moment;
use super::{Hooks, Reads, Source, load};
use crate::base::id::Key;
use crate::base::money::Money;
use crate::model::hook::Wish;
use crate::model::issue::Problem;
use crate::policy::Power;

/// Name of the typed text in problems.
pub const SHOWN: &str = "repl";
/// Variable that holds the event.
const EVENT: &str = "event";
/// Owner of the stored values if no script is named.
const NOBODY: &str = "repl";
/// Start of a line with an import, which later lines see too.
const IMPORT: &str = "import ";

/// A session: variables, functions, and the action requests so far.
pub struct Repl {
    engine: Engine,
    names: Arc<Names>,
    scope: Scope<'static>,
    functions: AST,
    imports: String,
    script: String,
    about: About,
    wishes: Vec<Wish>,
    kept: BTreeMap<String, Value>,
}

/// Result of a line.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluated {
    /// Value in its written form; `None` for `()`.
    pub value: Option<String>,
    /// New action requests.
    pub wishes: Vec<Wish>,
    /// Values that changed, by key.
    pub kept: Vec<(String, Value)>,
    /// Log of the line.
    pub log: Vec<String>,
    /// Number of reads.
    pub reads: usize,
}

/// Outcome of a line.
#[derive(Debug)]
pub enum Answer {
    Done(Evaluated),
    /// The line is incomplete; the next line continues it.
    Open,
    /// The line failed.
    Wrong(Box<Problem>),
}

impl fmt::Debug for Repl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Repl({} actions)", self.wishes.len())
    }
}

impl Repl {
    /// Returns a session over a valid set, with its names and its modules.
    pub fn new(hooks: &Hooks, sources: &[Source]) -> Self {
        Self {
            engine: load::bench(sources),
            names: hooks.names.clone(),
            scope: Scope::new(),
            functions: AST::empty(),
            imports: String::new(),
            script: NOBODY.to_owned(),
            about: About::default(),
            wishes: Vec::new(),
            kept: BTreeMap::new(),
        }
    }

    /// Sets the variable `event`, and the merchant of later actions. Clears the collected requests.
    pub fn bind(&mut self, event: &Value) {
        self.about = About::of(event);
        let personal = self.names.rights.allows(Power::Personal, self.merchant());
        let mut event = foreign(event);
        close_event(&mut event, personal);
        self.scope.set_value(EVENT, event);
        self.clear();
    }

    /// Reads the stored values of this script from now on.
    pub fn play(&mut self, script: &str) {
        script.clone_into(&mut self.script);
    }

    /// Returns the merchant of the event.
    pub fn merchant(&self) -> Option<&Key> {
        self.about.merchant.as_ref()
    }

    /// Returns all collected action requests.
    pub fn wishes(&self) -> &[Wish] {
        &self.wishes
    }

    /// Returns all stored values.
    pub fn kept(&self) -> &BTreeMap<String, Value> {
        &self.kept
    }

    /// Clears the collected requests and stored values.
    pub fn clear(&mut self) {
        self.wishes.clear();
        self.kept.clear();
    }

    /// Evaluates a text on this thread, which needs [`super::STACK_BYTES`] of stack.
    pub fn evaluate(
        &mut self,
        text: &str,
        reads: Arc<dyn Reads>,
        time: Option<Duration>,
    ) -> Answer {
        let tree = match self.engine.compile_with_scope(&self.scope, [&self.imports, text].concat())
        {
            Ok(tree) => tree,
            Err(error) if is_open(&error, text) => return Answer::Open,
            Err(error) => {
                return Answer::Wrong(Box::new(self.moved(load::problem(&source(text), &error))));
            }
        };
        let session = Session::new(&self.script, self.about.clone(), self.names.clone(), reads);
        let session = session.going_on(self.kept.clone());
        self.engine.set_default_tag(Dynamic::from(session.clone()));
        let size = self.scope.len();
        let whole = self.functions.merge(&tree);
        let timed = Timed::start(time);
        let ended = catch_unwind(AssertUnwindSafe(|| {
            self.engine.eval_ast_with_scope::<Dynamic>(&mut self.scope, &whole)
        }));
        drop(timed);
        self.engine.set_default_tag(Dynamic::UNIT);
        let wrong = |message: &str, place| {
            let help = "nothing of what this line asked for before counts";
            self.moved(source(text).problem(place, "run", message, help))
        };
        let problem = match ended {
            Ok(Ok(value)) => return Answer::Done(self.took(text, &whole, &value, session.take())),
            Ok(Err(error)) => {
                let (_, message, place) = told(&error);
                wrong(&message, place.unwrap_or((1, 1)))
            }
            Err(_) => wrong("a function of ours failed where it never should", (1, 1)),
        };
        self.scope.rewind(size);
        Answer::Wrong(Box::new(problem))
    }

    fn took(&mut self, text: &str, whole: &AST, value: &Dynamic, done: Done) -> Evaluated {
        self.functions = whole.clone_functions_only();
        if text.trim_start().starts_with(IMPORT) {
            let line = text.trim().replace('\n', " ");
            self.imports.extend([line.trim_end_matches(';'), "; "]);
        }
        let Done { wishes, mut kept, added, looks, log, answers: _ } = done;
        kept.extend(added);
        let new = |wish: &Wish| !self.wishes.contains(wish);
        let wishes: Vec<Wish> = wishes.into_iter().filter(new).collect();
        self.wishes.extend(wishes.iter().cloned());
        let changed = |(key, value): &(&String, &Value)| self.kept.get(*key) != Some(*value);
        let changed = kept.iter().filter(changed);
        let changed = changed.map(|(key, value)| (key.clone(), value.clone())).collect();
        self.kept = kept;
        Evaluated { value: shown(value), wishes, kept: changed, log, reads: looks.len() }
    }

    /// Moves a problem left by the hidden imports before the first line.
    fn moved(&self, problem: Problem) -> Problem {
        let hidden = if problem.line == 1 { self.imports.chars().count() } else { 0 };
        let column = problem.column.saturating_sub(hidden).max(1);
        Problem { column, ..problem }
    }
}

/// Returns the typed text as a file.
pub fn source(text: &str) -> Source {
    Source { path: SHOWN.to_owned(), shown: SHOWN.to_owned(), text: text.into() }
}

/// Returns true if a text is not wrong, but incomplete.
fn is_open(error: &ParseError, text: &str) -> bool {
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
fn shown(value: &Dynamic) -> Option<String> {
    if value.is_unit() {
        return None;
    }
    let is_written = value.is::<Money>() || value.is::<Moment>();
    Some(match json(value) {
        Ok(Value::String(text)) if is_written => text,
        Ok(value) => value.to_string(),
        Err(_) => value.to_string(),
    })
}

#[cfg(test)]
mod tests;
