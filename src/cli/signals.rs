//! The signals that end a command.

use tokio::signal::unix::{SignalKind, signal};

use super::exit::Exit;

/// Waits for SIGTERM or SIGINT; answers the exit code of each. If neither can be heard, waits for
/// ever.
pub(super) async fn stop() -> Exit {
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
