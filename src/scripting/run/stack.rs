//! Stack for nested scripts: their calls and expressions use the stack of the thread that runs
//! them.

use std::thread;

/// Stack size of a thread that runs a script, in bytes.
pub const STACK_BYTES: usize = 32 << 20;

/// Runs work on a thread with enough stack, and waits for it. Returns `None` if the work panicked,
/// or if no thread could be started.
pub fn on_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK_BYTES).name("hooks".to_owned());
        thread.spawn_scoped(scope, work).ok()?.join().ok()
    })
}
