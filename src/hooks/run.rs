//! One hook run: its input is the event, and its output are the script's action requests.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use rhai::{CallFnOptions, Dynamic, EvalAltResult, Scope};
use serde_json::Value;

use super::bound::{OPERATIONS_MAX, Timed};
use super::failure::{Failure, Why, told};
use super::given::Given;
use super::private::close_event;
use super::quota;
use super::session::Session;
use super::{Handler, Hooks, Reads, Script};
use crate::base::id::Key;
use crate::model::hook::Run;
use crate::policy::Power;

pub(super) fn run(
    hooks: &Hooks,
    handler: &Handler,
    event: Given,
    reads: &Arc<dyn Reads>,
    time: Option<Duration>,
) -> Result<Run, Box<Failure>> {
    let Handler { script: name, function } = handler;
    let script = hooks.scripts.get(name).filter(|script| script.functions.contains(function));
    let Some(script) = script else { return Err(Box::new(gone(handler))) };
    let (mut argument, about) = event.into_parts();
    let personal = hooks.names.rights.allows(Power::Personal, about.merchant.as_ref());
    close_event(&mut argument, personal);
    let session = Session::new(name, about, Arc::clone(&hooks.names), Arc::clone(reads));
    let (ended, operations) = called(hooks, (script, function), argument, &session, time);
    let done = session.take();
    let over = quota::exceeded(&**reads, name, &done);
    let failure = |why, message, place| {
        let (script, function, log) = (name.clone(), function.clone(), done.log.clone());
        Box::new(Failure { script, function, why, message, place, log })
    };
    match ended {
        Err(()) => {
            let message = "a function of ours failed where it never should";
            Err(failure(Why::Panic, message.to_owned(), None))
        }
        Ok(Err(error)) => {
            let (why, message, place) = told(&error);
            Err(failure(why, message, place))
        }
        Ok(Ok(_)) if over.is_some() => Err(failure(Why::Bound, over.unwrap_or_default(), None)),
        Ok(Ok(_)) => Ok(Run {
            script: name.clone(),
            function: function.clone(),
            hash: script.hash,
            wishes: done.wishes,
            kept: done.kept.into_iter().collect(),
            added: done.added.into_iter().collect(),
            looks: done.looks,
            log: done.log,
            operations,
            sealed: None,
            answers: done.answers,
        }),
    }
}

type Called = Result<Result<Dynamic, Box<EvalAltResult>>, ()>;

thread_local! {
    /// Operations of this thread's run.
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

/// Records the operations of this thread's run so far.
pub(super) fn count(operations: u64) {
    COUNT.set(operations.min(OPERATIONS_MAX));
}

/// Calls the function. The outer error is a panic.
fn called(
    hooks: &Hooks,
    (script, function): (&Script, &str),
    argument: Dynamic,
    session: &Session,
    time: Option<Duration>,
) -> (Called, u64) {
    COUNT.set(0);
    let timed = Timed::start(time);
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
pub(super) fn merchant(event: &Value) -> Option<Key> {
    let name = event.get("merchant").and_then(Value::as_str)?;
    format!("Merchant/{name}").parse().ok()
}

fn gone(handler: &Handler) -> Failure {
    Failure {
        script: handler.script.clone(),
        function: handler.function.clone(),
        why: Why::Gone,
        message: "there is no such script or function".to_owned(),
        place: None,
        log: Vec::new(),
    }
}
