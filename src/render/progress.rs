//! Progress at a terminal. A pipe gets no bar but a line at intervals, so that a long wait does not
//! look like the end. Short work shows nothing, so that the output does not flicker.
//!
//! Guarantees: at most one bar is drawn at a time. Other output of a command goes through
//! [`without_bar`], so that no part of the bar stays on the terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::engine::protocol::views::Overview;
use crate::render::words::clean;

/// Duration below which work shows no progress.
const SHOWN_AFTER: Duration = Duration::from_millis(200);
const TICK: Duration = Duration::from_millis(100);
/// Shortest interval between two lines.
const LINE_EVERY: Duration = Duration::from_secs(10);
/// Longest interval between two lines; the interval grows with the duration of the work.
const LINE_EVERY_MAX: Duration = Duration::from_mins(5);
/// The interval between two lines is the duration of the work divided by this number.
const LINE_PARTS: u32 = 4;
/// Interval at which work without news is polled.
const POLL_EVERY: Duration = Duration::from_millis(500);

static CURRENT_BAR: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Writes to the terminal while no bar is drawn there.
pub fn without_bar<T>(write: impl FnOnce() -> T) -> T {
    let drawn = CURRENT_BAR.lock().clone();
    match drawn {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

pub fn clear() {
    if let Some(bar) = CURRENT_BAR.lock().take() {
        bar.finish_and_clear();
    }
}

/// Registers a bar as the one that is drawn.
fn set_current(bar: ProgressBar) -> ProgressBar {
    *CURRENT_BAR.lock() = Some(bar.clone());
    bar
}

#[derive(Debug)]
pub struct RunProgress {
    start: Instant,
    bar: Mutex<Option<ProgressBar>>,
    lines: Mutex<Option<Lines>>,
}

#[derive(Debug, Clone, Copy)]
struct Lines {
    since: Instant,
    last: Instant,
}

/// Returns the next overview. If `impatient`, the current one is returned after a moment without
/// news. Returns `None` once the run is over.
pub async fn next_overview(
    overviews: &mut watch::Receiver<Overview>,
    impatient: bool,
) -> Option<Overview> {
    let news = overviews.changed();
    if impatient {
        if let Ok(Err(_)) = tokio::time::timeout(POLL_EVERY, news).await {
            return None;
        }
    } else {
        news.await.ok()?;
    }
    Some(overviews.borrow_and_update().clone())
}

impl Default for RunProgress {
    fn default() -> Self {
        Self { start: Instant::now(), bar: Mutex::new(None), lines: Mutex::new(None) }
    }
}

impl RunProgress {
    /// Shows the phase and the counts on standard error from 200 ms on, if it is a terminal.
    /// Returns the same as a line for logs, every ten seconds at first.
    pub fn update(&self, overview: &Overview, phase: &str) -> Option<String> {
        if self.start.elapsed() >= SHOWN_AFTER {
            self.draw(overview, phase);
        }
        let now = Instant::now();
        let mut lines = self.lines.lock();
        let Lines { since, last } = *lines.get_or_insert(Lines { since: now, last: now });
        let lasted = now.duration_since(since);
        let part = lasted.checked_div(LINE_PARTS).unwrap_or_default();
        if now.duration_since(last) < part.clamp(LINE_EVERY, LINE_EVERY_MAX) {
            return None;
        }
        *lines = Some(Lines { since, last: now });
        Some(status_line(overview, &format!("{phase} for {}s", lasted.as_secs())))
    }

    fn draw(&self, overview: &Overview, phase: &str) {
        let mut bar = self.bar.lock();
        let bar = bar.get_or_insert_with(|| {
            let bar = ProgressBar::new_spinner();
            if !bar.is_hidden() {
                bar.enable_steady_tick(TICK);
            }
            set_current(bar)
        });
        bar.set_message(status_line(overview, phase));
    }

    /// Ends the work: removes the bar until the next update.
    pub fn clear(&self) {
        *self.lines.lock() = None;
        if self.bar.lock().take().is_some() {
            clear();
        }
    }
}

impl Drop for RunProgress {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Returns the text beside the spinner.
fn status_line(overview: &Overview, phase: &str) -> String {
    let Overview { resources, ready, changes, under_way, stuck, .. } = overview;
    let counts = [(changes, "to do"), (under_way, "under way"), (stuck, "stuck")];
    let some = counts.iter().filter(|(count, _)| **count > 0);
    let some: Vec<String> = some.map(|(count, what)| format!(", {count} {what}")).collect();
    format!("{}: {ready} of {resources} ready{}", clean(phase), some.concat())
}

#[derive(Debug)]
pub struct Counter {
    bar: ProgressBar,
}

impl Counter {
    /// Returns a counter of `what` up to `total`, drawn if standard error is a terminal.
    pub fn new(total: u64, what: &str) -> Self {
        let bar = ProgressBar::new(total);
        let template =
            format!("{{bar:30}} {{pos}} of {{len}} {}", clean(what).replace(['{', '}'], ""));
        if let Ok(style) = ProgressStyle::with_template(&template) {
            bar.set_style(style);
        }
        Self { bar: set_current(bar) }
    }

    /// Returns true if standard error is a terminal that shows the counter.
    pub fn is_shown(&self) -> bool {
        !self.bar.is_hidden()
    }

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
        assert_eq!(status_line(&overview(), "applying"), text);
        let done = Overview { ready: 5, changes: 0, under_way: 0, stuck: 0, ..overview() };
        assert_eq!(status_line(&done, "applying"), "applying: 5 of 5 ready");
    }

    #[tokio::test(start_paused = true)]
    async fn what_ends_soon_shows_nothing() {
        let progress = RunProgress::default();
        let drawn = |progress: &RunProgress| progress.bar.lock().is_some();
        assert_eq!(progress.update(&overview(), "applying"), None);
        assert!(!drawn(&progress));
        tokio::time::advance(SHOWN_AFTER).await;
        assert_eq!(progress.update(&overview(), "applying"), None);
        assert!(drawn(&progress));
        progress.clear();
        assert!(!drawn(&progress));
    }

    #[tokio::test(start_paused = true)]
    async fn a_run_without_news_is_drawn_and_told_all_the_same() {
        let (sender, mut overviews) = watch::channel(overview());
        let progress = RunProgress::default();
        let start = Instant::now();
        let mut told = Vec::new();
        while start.elapsed() < Duration::from_secs(25) {
            let now = next_overview(&mut overviews, true).await.unwrap();
            told.extend(progress.update(&now, "applying"));
            let drawn = progress.bar.lock().is_some();
            assert_eq!(drawn, start.elapsed() >= SHOWN_AFTER, "{:?}", start.elapsed());
        }
        let line = |seconds| {
            format!("applying for {seconds}s: 3 of 5 ready, 1 to do, 2 under way, 1 stuck")
        };
        assert_eq!(told, [line(10), line(20)]);
        drop(sender);
        assert_eq!(next_overview(&mut overviews, true).await, None);
    }
}
