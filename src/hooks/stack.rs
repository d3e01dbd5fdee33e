//! Room for what nests: a script's calls and expressions take the stack of the thread that runs it.

use std::thread;

/// How much stack a thread needs that runs a script.
pub const STACK_BYTES: usize = 32 << 20;

/// Does something on a thread with enough stack, and waits for it. `None`: it panicked, or there is no thread to be had.
pub fn on_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK_BYTES).name("hooks".to_owned());
        thread.spawn_scoped(scope, work).ok()?.join().ok()
    })
}
