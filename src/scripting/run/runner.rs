//! One hook run: its input is the event, and its output are the script's action requests.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use rhai::{CallFnOptions, Dynamic, EvalAltResult, Scope};
use serde_json::Value;

use super::failure::{FailureCause, RunFailure, classify};
use super::limits::{DeadlineGuard, OPERATIONS_MAX};
use super::quota;
use super::session::RunSession;
use crate::base::id::Key;
use crate::model::events::hook::HookRun;
use crate::policy::ScriptPower;
use crate::scripting::host::privacy::remove_private_of_event;
use crate::scripting::host::script_event::ScriptEvent;
use crate::scripting::interface::{CompiledScript, EventHandler, Hooks, Reads};

pub(crate) fn run(
    hooks: &Hooks,
    handler: &EventHandler,
    event: ScriptEvent,
    reads: &Arc<dyn Reads>,
    time: Option<Duration>,
) -> Result<HookRun, Box<RunFailure>> {
    let EventHandler { script: name, function } = handler;
    let script = hooks.scripts.get(name).filter(|script| script.functions.contains(function));
    let Some(script) = script else { return Err(Box::new(missing_handler(handler))) };
    let (mut argument, about) = event.into_parts();
    let personal = hooks.names.rights.allows(ScriptPower::Personal, about.merchant.as_ref());
    remove_private_of_event(&mut argument, personal);
    let session = RunSession::new(name, about, Arc::clone(&hooks.names), Arc::clone(reads));
    let (ended, operations) = call_function(hooks, (script, function), argument, &session, time);
    let done = session.take();
    let over = quota::exceeded_quota(&**reads, name, &done);
    let failure = |why, message, place| {
        let (script, function, log) = (name.clone(), function.clone(), done.log.clone());
        Box::new(RunFailure { script, function, cause: why, message, place, log })
    };
    match ended {
        Err(()) => {
            let message = "a function of ours failed where it never should";
            Err(failure(FailureCause::Panic, message.to_owned(), None))
        }
        Ok(Err(error)) => {
            let (why, message, place) = classify(&error);
            Err(failure(why, message, place))
        }
        Ok(Ok(_)) if over.is_some() => {
            Err(failure(FailureCause::LimitExceeded, over.unwrap_or_default(), None))
        }
        Ok(Ok(_)) => Ok(HookRun {
            script: name.clone(),
            function: function.clone(),
            hash: script.hash,
            requests: done.actions,
            kept: done.stored.into_iter().collect(),
            added: done.added.into_iter().collect(),
            reads: done.reads,
            log: done.log,
            operations,
            sealed: None,
            answers: done.answers,
        }),
    }
}

type CallResult = Result<Result<Dynamic, Box<EvalAltResult>>, ()>;

thread_local! {
    /// Operations of this thread's run.
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

/// Records the operations of this thread's run so far.
pub(crate) fn record_operations(operations: u64) {
    COUNT.set(operations.min(OPERATIONS_MAX));
}

/// Calls the function. The outer error is a panic.
fn call_function(
    hooks: &Hooks,
    (script, function): (&CompiledScript, &str),
    argument: Dynamic,
    session: &RunSession,
    time: Option<Duration>,
) -> (CallResult, u64) {
    COUNT.set(0);
    let timed = DeadlineGuard::start(time);
    let ended = catch_unwind(AssertUnwindSafe(|| {
        let options = CallFnOptions::new().with_tag(session.clone());
        let mut scope = Scope::new();
        let engine = &hooks.engine;
        engine.call_fn_with_options(options, &mut scope, &script.ast, function, (argument,))
    }));
    drop(timed);
    (ended.map_err(drop), COUNT.get())
}

/// Returns the merchant of an event.
pub(crate) fn event_merchant(event: &Value) -> Option<Key> {
    let name = event.get("merchant").and_then(Value::as_str)?;
    format!("Merchant/{name}").parse().ok()
}

fn missing_handler(handler: &EventHandler) -> RunFailure {
    RunFailure {
        script: handler.script.clone(),
        function: handler.function.clone(),
        cause: FailureCause::Missing,
        message: "there is no such script or function".to_owned(),
        place: None,
        log: Vec::new(),
    }
}
