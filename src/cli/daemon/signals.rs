//! Signals that end a command.

use tokio::signal::unix::{SignalKind, signal};

use crate::cli::output::exit::Exit;
use crate::render::progress;
use crate::render::progress::Counter;

/// Waits for SIGTERM or SIGINT, and returns the exit code of each. If neither can be received,
/// waits for ever.
pub(crate) async fn stop() -> Exit {
    let (Ok(mut term), Ok(mut int)) =
        (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = term.recv() => Exit::Done,
        _ = int.recv() => Exit::Interrupted,
    }
}

/// Shows a counter of `what` at a terminal. A signal removes the counter before it ends the
/// process, since a counting command does not wait for signals.
pub(crate) fn counter(total: u64, what: &str) -> Counter {
    let counter = Counter::new(total, what);
    if counter.is_shown() {
        std::thread::spawn(end_cleanly);
    }
    counter
}

/// Ends the process at a signal, after it removed the counter from the terminal.
fn end_cleanly() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
    if let Ok(runtime) = runtime {
        runtime.block_on(stop());
        progress::clear();
        std::process::exit(i32::from(Exit::Interrupted.code()));
    }
}
