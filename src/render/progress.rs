//! Progress at a terminal. In a pipe nothing is drawn, but a line comes now and then, so that nobody takes a long wait
//! for the end; and nothing that is over in a moment flickers.
//!
//! Guarantees: one bar is drawn at a time, and what a command writes meanwhile goes through [`aside`], so that nothing of
//! the bar stays on the terminal.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use tokio::sync::watch;
use tokio::time::Instant;

use super::words::clean;
use crate::engine::Overview;

/// What ends sooner shows no progress.
const PATIENCE: Duration = Duration::from_millis(200);
/// How often the sign that something goes on moves.
const TICK: Duration = Duration::from_millis(100);
/// Work that lasts longer is told in a line, and again after as long at least.
const LINE_EVERY: Duration = Duration::from_secs(10);
/// Lines become fewer, down to this, with the time that the work lasts.
const LINE_EVERY_MAX: Duration = Duration::from_mins(5);
/// The wait for a line is such a part of the time that the work lasted.
const LINE_PARTS: u32 = 4;
/// Work of which there is no news is looked at so often.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// The bar that is drawn.
static DRAWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Writes to the terminal while no bar is drawn there.
pub fn aside<T>(write: impl FnOnce() -> T) -> T {
    let drawn = DRAWN.lock().unwrap_or_else(PoisonError::into_inner).clone();
    match drawn {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

/// Takes away the bar that is drawn.
pub fn clear() {
    if let Some(bar) = DRAWN.lock().unwrap_or_else(PoisonError::into_inner).take() {
        bar.finish_and_clear();
    }
}

/// Notes a bar as the one that is drawn.
fn drawn(bar: ProgressBar) -> ProgressBar {
    *DRAWN.lock().unwrap_or_else(PoisonError::into_inner) = Some(bar.clone());
    bar
}

/// How a run of the engine goes.
#[derive(Debug)]
pub struct Progress {
    start: Instant,
    bar: Mutex<Option<ProgressBar>>,
    lines: Mutex<Option<Lines>>,
}

/// Work that is told in lines.
#[derive(Debug, Clone, Copy)]
struct Lines {
    since: Instant,
    last: Instant,
}

/// How things stand, once there is news or, where `impatient`, a moment later; none: the run is over.
pub async fn look(overviews: &mut watch::Receiver<Overview>, impatient: bool) -> Option<Overview> {
    let news = overviews.changed();
    if impatient {
        if let Ok(Err(_)) = tokio::time::timeout(LOOK_EVERY, news).await {
            return None;
        }
    } else {
        news.await.ok()?;
    }
    Some(overviews.borrow_and_update().clone())
}

impl Default for Progress {
    fn default() -> Self {
        Self::new()
    }
}

impl Progress {
    /// Nothing is drawn yet.
    pub fn new() -> Self {
        Self { start: Instant::now(), bar: Mutex::new(None), lines: Mutex::new(None) }
    }

    /// Shows the phase and the counts on standard error, from 200 ms on, if it is a terminal. Answers the same as a
    /// line for logs, every ten seconds at first.
    pub fn update(&self, overview: &Overview, phase: &str) -> Option<String> {
        if self.start.elapsed() >= PATIENCE {
            self.draw(overview, phase);
        }
        let now = Instant::now();
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let Lines { since, last } = *lines.get_or_insert(Lines { since: now, last: now });
        let lasted = now.duration_since(since);
        let part = lasted.checked_div(LINE_PARTS).unwrap_or_default();
        if now.duration_since(last) < part.clamp(LINE_EVERY, LINE_EVERY_MAX) {
            return None;
        }
        *lines = Some(Lines { since, last: now });
        Some(line(overview, &format!("{phase} for {}s", lasted.as_secs())))
    }

    fn draw(&self, overview: &Overview, phase: &str) {
        let mut bar = self.bar.lock().unwrap_or_else(PoisonError::into_inner);
        let bar = bar.get_or_insert_with(|| {
            let bar = ProgressBar::new_spinner();
            if !bar.is_hidden() {
                bar.enable_steady_tick(TICK);
            }
            drawn(bar)
        });
        bar.set_message(line(overview, phase));
    }

    /// The work is over: takes away what is drawn, until the next update.
    pub fn clear(&self) {
        *self.lines.lock().unwrap_or_else(PoisonError::into_inner) = None;
        if self.bar.lock().unwrap_or_else(PoisonError::into_inner).take().is_some() {
            clear();
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
        Self { bar: drawn(bar) }
    }

    /// Returns whether standard error is a terminal that shows it.
    pub fn is_shown(&self) -> bool {
        !self.bar.is_hidden()
    }

    /// So many are done.
    pub fn set(&self, done: u64) {
        self.bar.set_position(done);
    }
}

impl Drop for Counter {
    fn drop(&mut self) {
        clear();
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
        assert_eq!(progress.update(&overview(), "applying"), None);
        assert!(!drawn(&progress));
        tokio::time::advance(PATIENCE).await;
        assert_eq!(progress.update(&overview(), "applying"), None);
        assert!(drawn(&progress));
        progress.clear();
        assert!(!drawn(&progress));
    }

    #[tokio::test(start_paused = true)]
    async fn a_run_without_news_is_drawn_and_told_all_the_same() {
        let (sender, mut overviews) = watch::channel(overview());
        let progress = Progress::new();
        let start = Instant::now();
        let mut told = Vec::new();
        while start.elapsed() < Duration::from_secs(25) {
            let now = look(&mut overviews, true).await.unwrap();
            told.extend(progress.update(&now, "applying"));
            let drawn = progress.bar.lock().unwrap().is_some();
            assert_eq!(drawn, start.elapsed() >= PATIENCE, "{:?}", start.elapsed());
        }
        let line = |seconds| {
            format!("applying for {seconds}s: 3 of 5 ready, 1 to do, 2 under way, 1 stuck")
        };
        assert_eq!(told, [line(10), line(20)]);
        drop(sender);
        assert_eq!(look(&mut overviews, true).await, None);
    }
}
