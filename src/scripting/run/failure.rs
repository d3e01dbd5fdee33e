//! Failures of hook runs.

use std::fmt;

use rhai::{Dynamic, EvalAltResult};
use serde::{Deserialize, Serialize};

use crate::kinds::schema::kind::Privacy;
use crate::model::issue::PlacedIssue;
use crate::policy::ScriptPower;
use crate::scripting::host::privacy;
use crate::scripting::host::session::RunLimitError;
use crate::scripting::language::source::{ScriptSource, place};

/// A failed run; it requests no action and stores no value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunFailure {
    pub script: String,
    pub function: String,
    #[serde(rename = "why")]
    pub cause: FailureCause,
    /// Description for the script's author.
    pub message: String,
    /// Line and column of the cause, from 1, if there is one.
    pub place: Option<(usize, usize)>,
    /// Log of the run until the failure.
    pub log: Vec<String>,
}

/// Causes of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureCause {
    /// The script is wrong, or threw an error itself.
    Script,
    /// The run exceeded a limit: operations, sizes, depth, actions or reads.
    #[serde(rename = "bound")]
    LimitExceeded,
    /// The run took too long.
    #[serde(rename = "time")]
    TimedOut,
    /// A host function panicked. This is our bug, and the rest of the process is unaffected.
    Panic,
    /// The script or function does not exist.
    #[serde(rename = "gone")]
    Missing,
}

impl fmt::Display for RunFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { script, function, message, place, cause: _, log: _ } = self;
        write!(f, "{script}: {function}")?;
        if let Some((line, column)) = place {
            write!(f, " at {line}:{column}")?;
        }
        write!(f, ": {message}")
    }
}

impl std::error::Error for RunFailure {}

impl RunFailure {
    /// Returns the failure as a problem, with its place in one of these files.
    pub fn problem(&self, sources: &[ScriptSource]) -> PlacedIssue {
        let source = sources.iter().find(|source| source.name() == self.script);
        let nowhere = || ScriptSource {
            path: self.script.clone(),
            display_path: self.script.clone(),
            text: "".into(),
        };
        let source = source.cloned().unwrap_or_else(nowhere);
        let function = || source.definition(&self.function, usize::MAX);
        let help = match self.cause {
            FailureCause::Script => "none of its requested actions is done, and nothing is stored",
            FailureCause::LimitExceeded => {
                "stay within the bounds of a run, which `reckon hooks \
                doc` lists"
            }
            FailureCause::TimedOut => "shorten its loops; the time of reads does not count",
            FailureCause::Panic => "please report this bug",
            FailureCause::Missing => "list the scripts with `reckon hooks check`",
        };
        source.problem(self.place.unwrap_or_else(function), "run", &self.message, help)
    }
}

/// Returns cause, message and place of an error of the language.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the language's own text describes every other error"
)]
pub(crate) fn classify(error: &EvalAltResult) -> (FailureCause, String, Option<(usize, usize)>) {
    let (inner, place) = innermost(error, None);
    let why = cause(inner);
    let message = match inner {
        EvalAltResult::ErrorTerminated(..) => "it took too long and was stopped".to_owned(),
        EvalAltResult::ErrorTooManyOperations(_) => {
            format!(
                "it took more than {} operations: does a loop end?",
                crate::scripting::language::limits::OPERATIONS_MAX
            )
        }
        EvalAltResult::ErrorStackOverflow(_) => "its calls nest too deep".to_owned(),
        EvalAltResult::ErrorRuntime(value, _) => thrown_message(value),
        EvalAltResult::ErrorPropertyNotFound(name, _) => missing_field_message(name),
        other => without_place(other),
    };
    (why, message, place)
}

/// Returns the message for a missing field, which may be closed to scripts.
fn missing_field_message(name: &str) -> String {
    let message = format!("Property not found: {name}");
    match privacy::privacy_of_name(name) {
        Some(Privacy::Secret) => format!("{message} (secret values never reach a script)"),
        Some(Privacy::Personal) => {
            let (refusal, help) = ScriptPower::Personal.refusal(None);
            format!("{message} (it is personal, and {refusal}; {help})")
        }
        Some(Privacy::Plain) | None => message,
    }
}

/// Returns the message that a script or a host function threw.
fn thrown_message(value: &Dynamic) -> String {
    let beyond = value.clone().try_cast::<RunLimitError>();
    beyond.map_or_else(|| value.to_string(), |beyond| beyond.to_string())
}

/// Returns the message of an error without its place.
fn without_place(error: &EvalAltResult) -> String {
    let text = error.to_string();
    match text.rfind(" (line ") {
        Some(at) => text.split_at(at).0.to_owned(),
        None => text,
    }
}

fn innermost(
    error: &EvalAltResult,
    outer: Option<(usize, usize)>,
) -> (&EvalAltResult, Option<(usize, usize)>) {
    let place = place(error.position()).or(outer);
    if let EvalAltResult::ErrorInFunctionCall(_, _, inner, _)
    | EvalAltResult::ErrorInModule(_, inner, _) = error
    {
        innermost(inner, place)
    } else {
        (error, place)
    }
}

fn cause(error: &EvalAltResult) -> FailureCause {
    let bound = matches!(
        error,
        EvalAltResult::ErrorTooManyOperations(_)
            | EvalAltResult::ErrorTooManyVariables(_)
            | EvalAltResult::ErrorTooManyModules(_)
            | EvalAltResult::ErrorStackOverflow(_)
            | EvalAltResult::ErrorDataTooLarge(..)
    );
    let beyond = |value: &Dynamic| value.is::<RunLimitError>();
    let bound = bound || matches!(error, EvalAltResult::ErrorRuntime(value, _) if beyond(value));
    if matches!(error, EvalAltResult::ErrorTerminated(..)) {
        FailureCause::TimedOut
    } else if bound {
        FailureCause::LimitExceeded
    } else {
        FailureCause::Script
    }
}
