//! Script engine: the language without some of its functions, with the limits and every registered
//! host function, and the failures of its runs.

use std::any::TypeId;

use rhai::packages::{Package, StandardPackage};
use rhai::{Dynamic, Engine, EvalAltResult, NativeCallContext, OptimizationLevel, Position, Token};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::kinds::schema::kind::Privacy;
use crate::model::issue::PlacedIssue;
use crate::policy::ScriptPower;
use crate::scripting::host::call::{HostCall, HostFn};
use crate::scripting::host::session::{HostError, RunLimitError, RunSession};
use crate::scripting::host::{actions, calculation, money, reads, script_event};
use crate::scripting::language::source::{Place, ScriptSource, place};
use crate::scripting::language::values::throw;
use crate::scripting::language::{limits, values};

/// Functions of the language without visible output; `log` replaces them.
const NO_OUTPUT: [&str; 2] = ["print", "debug"];

/// Reserved words of the language that are names of host functions.
const HOST_KEYWORDS: [&str; 1] = ["void"];

/// Returns an engine with every host function and limit. It reads no clock, disk or random number.
pub(crate) fn engine() -> Engine {
    let mut engine = Engine::new_raw();
    StandardPackage::new().register_into_engine(&mut engine);
    limits::set_limits(&mut engine);
    // `eval` runs text.
    engine
        .disable_symbol("eval")
        .set_optimization_level(OptimizationLevel::None)
        .set_fail_on_invalid_map_property(true)
        .set_allow_shadowing(true);
    allow_host_keywords(&mut engine);
    values::register(&mut engine);
    register_host_functions(&mut engine);
    engine
}

#[expect(
    deprecated,
    reason = "its only complaint is that it may change; the version is pinned by the lock file"
)]
fn allow_host_keywords(engine: &mut Engine) {
    engine.on_parse_token(|token, _, _| {
        if let Token::Reserved(word) = &token
            && HOST_KEYWORDS.contains(&word.as_str())
        {
            return Token::Identifier(word.clone());
        }
        token
    });
}

/// Returns the language's own functions and operators, by name and argument count.
pub(crate) fn builtin_functions(engine: &Engine) -> Vec<(String, usize)> {
    let none: Option<&NativeCallContext<'_>> = None;
    engine.collect_fn_metadata(
        none,
        |info| {
            let name = info.metadata.name.to_string();
            (!NO_OUTPUT.contains(&name.as_str())).then_some((name, info.metadata.num_params))
        },
        true,
    )
}

fn register_host_functions(engine: &mut Engine) {
    engine.register_type_with_name::<RunLimitError>("bound");
    engine.register_fn("to_string", |beyond: &mut RunLimitError| beyond.to_string());
    for row in host_functions() {
        for count in row.argument_counts() {
            for name in row.names() {
                let types = vec![TypeId::of::<Dynamic>(); count];
                engine.register_raw_fn(name, types, move |context, arguments| {
                    let arguments = arguments.iter_mut().map(|argument| argument.flatten_clone());
                    run_host_function((row, name), &context, arguments.collect())
                });
            }
        }
    }
}

fn run_host_function(
    (row, name): (&HostFn, &'static str),
    context: &NativeCallContext<'_>,
    arguments: Vec<Dynamic>,
) -> Result<Dynamic, Box<EvalAltResult>> {
    let session = context.tag().and_then(|tag| tag.clone().try_cast::<RunSession>());
    let session = session.ok_or_else(|| throw(format!("`{name}` works in hooks alone")))?;
    let call = HostCall::new(&session, (row, name), arguments);
    call.and_then(|call| (row.call)(&call)).map_err(|refused| match refused {
        HostError::Invalid(message) => throw(message),
        HostError::LimitExceeded(message) => {
            EvalAltResult::ErrorRuntime(Dynamic::from(RunLimitError(message)), Position::NONE)
                .into()
        }
    })
}

/// Returns every host function, in the order of the documentation.
pub fn host_functions() -> impl Iterator<Item = &'static HostFn> + Clone {
    let actions = money::ROWS.iter().chain(actions::SUSPENSIONS).chain(actions::NOTIFICATIONS);
    actions.chain(reads::ROWS).chain(calculation::ROWS)
}

/// Returns the rows of a name, or of a former name.
pub fn host_functions_named(name: &str) -> impl Iterator<Item = &'static HostFn> {
    host_functions().filter(move |row| row.names().any(|known| known == name))
}

/// Returns the name of the function whose action requests or reads have this name in the journal.
pub fn function_name(recorded: &str) -> &str {
    let row = host_functions().find(|row| row.recorded_name() == recorded);
    row.map_or(recorded, |row| row.name)
}

/// A failed run; it requests no action and stores no value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{script}: {function}{}: {message}", at_place(*.place))]
pub struct RunFailure {
    pub script: String,
    pub function: String,
    #[serde(rename = "why")]
    pub cause: FailureCause,
    pub message: String,
    /// Line and column of the cause, from 1, if there is one.
    pub place: Option<Place>,
    pub log: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailureCause {
    /// The script is wrong, or threw an error itself.
    Script,
    /// The run exceeded a limit: operations, sizes, depth, actions or reads.
    #[serde(rename = "bound")]
    LimitExceeded,
    #[serde(rename = "time")]
    TimedOut,
    /// A host function panicked. This is our bug, and the rest of the process is unaffected.
    Panic,
    /// The script or function does not exist.
    #[serde(rename = "gone")]
    Missing,
}

fn at_place(place: Option<Place>) -> String {
    place.map(|(line, column)| format!(" at {line}:{column}")).unwrap_or_default()
}

impl RunFailure {
    /// Returns the failure as a problem, with its place in one of these files.
    pub fn problem(&self, sources: &[ScriptSource]) -> PlacedIssue {
        let source = sources.iter().find(|source| source.name() == self.script);
        let source = source.cloned().unwrap_or_else(|| ScriptSource::named(&self.script, ""));
        let function = || source.definition(&self.function, usize::MAX);
        let help = match self.cause {
            FailureCause::Script => "none of its requested actions is done, and nothing is stored",
            FailureCause::LimitExceeded => {
                "stay within the bounds of a run, which `reckon hooks doc` lists"
            }
            FailureCause::TimedOut => "shorten its loops; the time of reads does not count",
            FailureCause::Panic => "please report this bug",
            FailureCause::Missing => "list the scripts with `reckon hooks check`",
        };
        source.problem(self.place.unwrap_or_else(function), "run", &self.message, help)
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the language describes other errors")]
pub(crate) fn classify_error(error: &EvalAltResult) -> (FailureCause, String, Option<Place>) {
    let (inner, place) = innermost_error(error, None);
    let message = match inner {
        EvalAltResult::ErrorTerminated(..) => "it took too long and was stopped".to_owned(),
        EvalAltResult::ErrorTooManyOperations(_) => {
            format!("it took more than {} operations: does a loop end?", limits::OPERATIONS_MAX)
        }
        EvalAltResult::ErrorStackOverflow(_) => "its calls nest too deep".to_owned(),
        EvalAltResult::ErrorRuntime(value, _) => {
            let beyond = value.clone().try_cast::<RunLimitError>();
            beyond.map_or_else(|| value.to_string(), |beyond| beyond.to_string())
        }
        EvalAltResult::ErrorPropertyNotFound(name, _) => missing_field_message(name),
        other => {
            let text = other.to_string();
            text.rsplit_once(" (line ").map_or(text.as_str(), |(message, _)| message).to_owned()
        }
    };
    (failure_cause(inner), message, place)
}

/// Returns the message for a missing field, which may be closed to scripts.
fn missing_field_message(name: &str) -> String {
    let message = format!("Property not found: {name}");
    match script_event::privacy_of_name(name) {
        Some(Privacy::Secret) => format!("{message} (secret values never reach a script)"),
        Some(Privacy::Personal) => {
            let (refusal, help) = ScriptPower::Personal.refusal(None);
            format!("{message} (it is personal, and {refusal}; {help})")
        }
        Some(Privacy::Plain) | None => message,
    }
}

fn innermost_error(error: &EvalAltResult, outer: Option<Place>) -> (&EvalAltResult, Option<Place>) {
    let place = place(error.position()).or(outer);
    if let EvalAltResult::ErrorInFunctionCall(_, _, inner, _)
    | EvalAltResult::ErrorInModule(_, inner, _) = error
    {
        innermost_error(inner, place)
    } else {
        (error, place)
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the script causes every other error")]
fn failure_cause(error: &EvalAltResult) -> FailureCause {
    match error {
        EvalAltResult::ErrorTerminated(..) => FailureCause::TimedOut,
        EvalAltResult::ErrorTooManyOperations(_)
        | EvalAltResult::ErrorTooManyVariables(_)
        | EvalAltResult::ErrorTooManyModules(_)
        | EvalAltResult::ErrorStackOverflow(_)
        | EvalAltResult::ErrorDataTooLarge(..) => FailureCause::LimitExceeded,
        EvalAltResult::ErrorRuntime(value, _) if value.is::<RunLimitError>() => {
            FailureCause::LimitExceeded
        }
        _ => FailureCause::Script,
    }
}
