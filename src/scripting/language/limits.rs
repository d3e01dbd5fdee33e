//! Limits of a run: the resources that one script may use, and the stack for its nested calls. The
//! cost of the limits is not measurable.

use std::cell::Cell;
use std::thread;
use std::time::{Duration, Instant};

use rhai::{Dynamic, Engine};

/// Operations of one run.
pub(crate) const OPERATIONS_MAX: u64 = 500_000;
/// Nested calls.
const CALLS_MAX: usize = 24;
/// Nested expressions, outside and inside functions.
const DEPTH_MAX: usize = 48;
/// Bytes of one text.
const TEXT_MAX: usize = 32 << 10;
/// Elements of one list, with the elements of nested lists.
const LIST_MAX: usize = 4096;
/// Entries of one map, with the entries of nested maps.
const MAP_MAX: usize = 4096;
/// Variables of one function.
const VARIABLES_MAX: usize = 64;
/// Functions of one script.
const FUNCTIONS_MAX: usize = 128;
/// Modules that one run imports.
const MODULES_MAX: usize = 16;
/// Nesting levels of a value that leaves a script.
pub(crate) const NESTED_MAX: usize = 24;
/// Actions that one run may request.
pub(crate) const ACTIONS_MAX: usize = 64;
/// Reads of one run.
pub(crate) const READS_MAX: usize = 64;
/// Keys that one run may store.
pub(crate) const STORED_KEYS_MAX: usize = 64;
/// Bytes of one stored value, and of the fields of one action, as JSON.
pub(crate) const VALUE_MAX: usize = 16 << 10;
/// Lines of the log.
pub(crate) const LINES_MAX: usize = 100;
/// Characters of one log line.
pub(crate) const LINE_MAX: usize = 1000;
/// Value with which the language ends a run at its deadline.
const OUT_OF_TIME: &str = "out of time";

thread_local! {
    static DEADLINE: Cell<Option<Instant>> = const { Cell::new(None) };
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

/// Wall-clock time of a run, without its reads.
pub const TIME_MAX: Duration = Duration::from_millis(250);

pub(crate) fn set_limits(engine: &mut Engine) {
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
        COUNT.set(operations.min(OPERATIONS_MAX));
        DEADLINE.get().is_some_and(|end| now() >= end).then(|| Dynamic::from(OUT_OF_TIME))
    });
}

pub(crate) fn operations() -> u64 {
    COUNT.get()
}

#[expect(
    clippy::disallowed_methods,
    reason = "a runaway is stopped by the wall's time, which decides nothing else"
)]
fn now() -> Instant {
    Instant::now()
}

/// Guard of the run's deadline; dropping it clears the deadline.
pub(crate) struct DeadlineGuard;

impl DeadlineGuard {
    /// Starts the time of a run, and the count of its operations; `None` sets no deadline.
    pub(crate) fn start(time: Option<Duration>) -> Self {
        COUNT.set(0);
        DEADLINE.set(time.and_then(|time| now().checked_add(time)));
        Self
    }
}

impl Drop for DeadlineGuard {
    fn drop(&mut self) {
        DEADLINE.set(None);
    }
}

/// Does work that does not count as time of the run, and extends the deadline by its duration.
pub(crate) fn off_the_clock<T>(work: impl FnOnce() -> T) -> T {
    let Some(end) = DEADLINE.get() else { return work() };
    let start = now();
    let done = work();
    DEADLINE.set(end.checked_add(now().saturating_duration_since(start)));
    done
}

/// Stack size of a thread that runs a script, in bytes.
pub const STACK_BYTES: usize = 32 << 20;

/// Runs work on a thread with enough stack. `None` if the work panicked, or no thread could start.
pub fn on_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK_BYTES).name("hooks".to_owned());
        thread.spawn_scoped(scope, work).ok()?.join().ok()
    })
}
