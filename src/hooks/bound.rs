//! The bounds of a run: how much of everything one script may take. They cost nothing that can be measured.

use std::cell::Cell;
use std::time::{Duration, Instant};

use rhai::{Dynamic, Engine};

/// Operations of one run.
pub(super) const OPERATIONS_MAX: u64 = 500_000;
/// Calls within calls.
const CALLS_MAX: usize = 24;
/// Expressions within expressions, outside functions and in them.
const DEPTH_MAX: usize = 48;
/// Bytes of one text.
pub(super) const TEXT_MAX: usize = 32 << 10;
/// Elements of one list, its lists counted in.
const LIST_MAX: usize = 4096;
/// Entries of one map, its maps counted in.
const MAP_MAX: usize = 4096;
/// Variables of one function.
const VARIABLES_MAX: usize = 64;
/// Functions of one script.
const FUNCTIONS_MAX: usize = 128;
/// Modules that one run imports.
const MODULES_MAX: usize = 16;
/// How deep a value may nest that leaves a script.
pub(super) const NESTED_MAX: usize = 24;
/// Actions that one run may ask for.
pub(super) const WISHES_MAX: usize = 64;
/// Reads of one run.
pub(super) const LOOKS_MAX: usize = 64;
/// Keys that one run may keep.
pub(super) const KEPT_MAX: usize = 64;
/// Bytes of one value that is kept, and of the fields of one action, as JSON.
pub(super) const VALUE_MAX: usize = 16 << 10;
/// Lines of the log.
pub(super) const LINES_MAX: usize = 100;
/// Characters of one line of the log.
pub(super) const LINE_MAX: usize = 1000;
/// What a run is ended with when its time is over.
const OUT_OF_TIME: &str = "out of time";

thread_local! {
    /// When the run of this thread has to end.
    static END: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Sets every bound.
pub(super) fn bind(engine: &mut Engine) {
    engine
        .set_max_operations(OPERATIONS_MAX)
        .set_max_call_levels(CALLS_MAX)
        .set_max_expr_depths(DEPTH_MAX, DEPTH_MAX)
        .set_max_string_size(TEXT_MAX)
        .set_max_array_size(LIST_MAX)
        .set_max_map_size(MAP_MAX)
        .set_max_variables(VARIABLES_MAX)
        .set_max_functions(FUNCTIONS_MAX)
        .set_max_modules(MODULES_MAX);
    engine.on_progress(|operations| {
        super::run::count(operations);
        is_over().then(|| Dynamic::from(OUT_OF_TIME))
    });
}

#[expect(
    clippy::disallowed_methods,
    reason = "a runaway is stopped by the wall's time, which decides nothing else"
)]
fn now() -> Instant {
    Instant::now()
}

fn is_over() -> bool {
    END.get().is_some_and(|end| now() >= end)
}

/// The time of one run; it ends with this value.
pub(super) struct Timed;

impl Timed {
    /// From now on; without a time, for ever.
    pub(super) fn start(time: Option<Duration>) -> Self {
        END.set(time.and_then(|time| now().checked_add(time)));
        Self
    }
}

impl Drop for Timed {
    fn drop(&mut self) {
        END.set(None);
    }
}

/// Does what the run waits for and is not to blame for: its time goes on behind it.
pub(super) fn beside<T>(work: impl FnOnce() -> T) -> T {
    let Some(end) = END.get() else { return work() };
    let start = now();
    let done = work();
    END.set(end.checked_add(now().saturating_duration_since(start)));
    done
}
