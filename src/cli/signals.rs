//! The signals that end a command.

use tokio::signal::unix::{SignalKind, signal};

/// Waits for SIGTERM or SIGINT. If neither can be heard, waits for ever.
pub(super) async fn stop() {
    let (Ok(mut term), Ok(mut int)) =
        (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = term.recv() => {}
        _ = int.recv() => {}
    }
}
