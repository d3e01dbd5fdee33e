//! Reports the daemon to systemd: ready, alive, stopping. Without `NOTIFY_SOCKET` it reports nothing.
//!
//! A ping proves that the engine's loop turns: each one follows an answer of the engine. An engine that
//! answers also proves that the state is open, and that the listeners are.

use std::time::Duration;

use sd_notify::NotifyState;
use tokio::sync::watch;

use crate::cli::exit::Exit;
use crate::control::handle::Control;
use crate::engine::protocol::query::OverviewQuery;

/// Pings in the time after which systemd ends a silent daemon.
const PINGS: u32 = 3;

/// Reports until a signal stops the daemon; then reports that it stops.
pub(crate) async fn report_to_systemd(
    control: watch::Receiver<Control>,
    mut signalled: watch::Receiver<Option<Exit>>,
) {
    let every = sd_notify::watchdog_enabled().and_then(|limit| limit.checked_div(PINGS));
    tokio::select! {
        _ = signalled.wait_for(Option::is_some) => send(&[NotifyState::Stopping]),
        () = report_life(control, every, send) => {}
    }
}

fn send(state: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(state) {
        tracing::warn!("report to systemd: {error}");
    }
}

/// Sends READY after the engine's first answer, and WATCHDOG after each further one, `every` so often.
async fn report_life(
    mut control: watch::Receiver<Control>,
    every: Option<Duration>,
    send: impl Fn(&[NotifyState<'_>]),
) {
    let mut state = NotifyState::Ready;
    loop {
        let engine = control.borrow_and_update().clone();
        if engine.ask(OverviewQuery).await.is_ok() {
            send(&[std::mem::replace(&mut state, NotifyState::Watchdog)]);
            let Some(every) = every else { return std::future::pending().await };
            tokio::time::sleep(every).await;
        } else if control.changed().await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parking_lot::Mutex;
    use tokio::sync::mpsc;

    use super::*;
    use crate::control::testing::overview;
    use crate::engine::protocol::input::EngineInput;
    use crate::engine::protocol::query::Reply;

    const EVERY: Duration = Duration::from_secs(10);

    fn answer(input: EngineInput) {
        let EngineInput::Ask(_, reply) = input else { panic!("another input") };
        reply.send(Reply::Overview(Box::new(overview()))).unwrap();
    }

    /// Starts the reports about an engine; returns its inputs and the states that were sent.
    fn start() -> (watch::Sender<Control>, mpsc::Receiver<EngineInput>, Arc<Mutex<Vec<String>>>) {
        let (sender, inputs) = mpsc::channel(4);
        let (latest, control) = watch::channel(Control::new(sender));
        let sent: Arc<Mutex<Vec<String>>> = Arc::default();
        let seen = sent.clone();
        let note = move |state: &[NotifyState<'_>]| seen.lock().push(state[0].to_string());
        tokio::spawn(report_life(control, Some(EVERY), note));
        (latest, inputs, sent)
    }

    #[tokio::test(start_paused = true)]
    async fn an_engine_whose_loop_does_not_turn_is_not_reported_alive() {
        let (_latest, mut inputs, sent) = start();
        for _ in 0..3 {
            answer(inputs.recv().await.unwrap());
        }
        let unanswered = inputs.recv().await.unwrap();
        tokio::time::sleep(EVERY * 100).await;
        assert_eq!(*sent.lock(), ["READY=1", "WATCHDOG=1", "WATCHDOG=1"]);
        drop(unanswered);
    }

    #[tokio::test(start_paused = true)]
    async fn the_next_engine_is_reported_where_the_one_before_it_ended() {
        let (latest, mut inputs, sent) = start();
        answer(inputs.recv().await.unwrap());
        drop(inputs);
        let (sender, mut inputs) = mpsc::channel(4);
        latest.send_replace(Control::new(sender));
        answer(inputs.recv().await.unwrap());
        tokio::time::sleep(EVERY / 2).await;
        assert_eq!(*sent.lock(), ["READY=1", "WATCHDOG=1"]);
    }
}
