//! Progress at a terminal. In a pipe nothing is drawn, and nothing that is over in a moment flickers.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use tokio::time::Instant;

use super::words::clean;
use crate::engine::Overview;

/// What ends sooner shows no progress.
const PATIENCE: Duration = Duration::from_millis(200);
/// How often the sign that something goes on moves.
const TICK: Duration = Duration::from_millis(100);

/// How a run of the engine goes.
#[derive(Debug)]
pub struct Progress {
    start: Instant,
    bar: Mutex<Option<ProgressBar>>,
}

impl Default for Progress {
    fn default() -> Self {
        Self::new()
    }
}

impl Progress {
    /// Nothing is drawn yet.
    pub fn new() -> Self {
        Self { start: Instant::now(), bar: Mutex::new(None) }
    }

    /// Shows the phase and the counts on standard error, from 200 ms on, if it is a terminal.
    pub fn update(&self, overview: &Overview, phase: &str) {
        if self.start.elapsed() < PATIENCE {
            return;
        }
        let mut bar = self.bar.lock().unwrap_or_else(PoisonError::into_inner);
        let bar = bar.get_or_insert_with(|| {
            let bar = ProgressBar::new_spinner();
            if !bar.is_hidden() {
                bar.enable_steady_tick(TICK);
            }
            bar
        });
        bar.set_message(line(overview, phase));
    }

    /// Takes away what is drawn, until the next update.
    pub fn clear(&self) {
        if let Some(bar) = self.bar.lock().unwrap_or_else(PoisonError::into_inner).take() {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

/// The words beside the sign.
fn line(overview: &Overview, phase: &str) -> String {
    let Overview { resources, ready, changes, under_way, stuck, .. } = overview;
    let counts = [(changes, "to do"), (under_way, "under way"), (stuck, "stuck")];
    let some = counts.iter().filter(|(count, _)| **count > 0);
    let some: Vec<String> = some.map(|(count, what)| format!(", {count} {what}")).collect();
    format!("{}: {ready} of {resources} ready{}", clean(phase), some.concat())
}

/// A count up to a known end.
#[derive(Debug)]
pub struct Counter {
    bar: ProgressBar,
}

impl Counter {
    /// Counts `what` up to `total`, drawn if standard error is a terminal.
    pub fn new(total: u64, what: &str) -> Self {
        let bar = ProgressBar::new(total);
        let template =
            format!("{{bar:30}} {{pos}} of {{len}} {}", clean(what).replace(['{', '}'], ""));
        if let Ok(style) = ProgressStyle::with_template(&template) {
            bar.set_style(style);
        }
        Self { bar }
    }

    /// So many are done.
    pub fn set(&self, done: u64) {
        self.bar.set_position(done);
    }

    /// Takes away what is drawn.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::testing::overview;

    #[test]
    fn the_line_says_the_phase_and_what_is_left() {
        let text = "applying: 3 of 5 ready, 1 to do, 2 under way, 1 stuck";
        assert_eq!(line(&overview(), "applying"), text);
        let done = Overview { ready: 5, changes: 0, under_way: 0, stuck: 0, ..overview() };
        assert_eq!(line(&done, "applying"), "applying: 5 of 5 ready");
    }

    #[tokio::test(start_paused = true)]
    async fn what_ends_soon_shows_nothing() {
        let progress = Progress::new();
        let drawn = |progress: &Progress| progress.bar.lock().unwrap().is_some();
        progress.update(&overview(), "applying");
        assert!(!drawn(&progress));
        tokio::time::advance(PATIENCE).await;
        progress.update(&overview(), "applying");
        assert!(drawn(&progress));
        progress.clear();
        assert!(!drawn(&progress));
    }
}
