//! The spec tree as a stream of hints.
//!
//! Any event means "read again" and nothing more: only the reader of specs finds out the content of
//! a file. Hints come once the tree was quiet for a moment. So an edit is applied within a second,
//! and a checkout of thousands of files is one reading. A possibly missed change (a lost event, a
//! replaced folder) causes a reading of the whole tree, and so does every minute.

mod burst;
mod places;

use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use notify::{Config, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::{Notify, mpsc};
use tokio::time::{Instant, MissedTickBehavior, interval, timeout_at};

use crate::engine::core::input::EngineInput;

use burst::{Burst, Hint};
use places::RootPlaces;

/// Time without an event after which the tree counts as complete.
const QUIET: Duration = Duration::from_millis(100);
/// Maximum length of a burst: a tree that is never quiet is read after this time anyway. An edit in
/// it is still applied within a second.
const BURST_MAX: Duration = Duration::from_millis(700);
/// Interval between readings of the whole tree, whatever the events are.
const RESCAN: Duration = Duration::from_mins(1);

/// Reasons why a tree cannot be watched. It is still read every minute.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// Its path has no meaning here.
    #[error("find {}: {source}", root.display())]
    Path {
        /// The folder of specs.
        root: PathBuf,
        /// The operating system's answer.
        source: std::io::Error,
    },
}

/// Sends hints about the tree at `root` until `shutdown` ends or the receiver is dropped. The first
/// hint, a reading of the whole tree, shows that the watch has begun. A root that does not exist
/// yet is awaited.
///
/// # Errors
/// Only a path that has no meaning.
pub async fn watch(
    root: PathBuf,
    events: mpsc::Sender<EngineInput>,
    shutdown: impl Future<Output = ()>,
) -> Result<(), WatchError> {
    let full = std::path::absolute(&root);
    let full = full.map_err(|source| WatchError::Path { root: root.clone(), source })?;
    let seen = Arc::new(SharedBurst::default());
    let mut tree = WatchedTree { root, full, shared: seen, armed: None };
    tokio::select! {
        biased;
        () = pin!(shutdown) => {}
        () = tree.run(&events) => {}
    }
    Ok(())
}

/// State shared by the watcher's thread and the task.
#[derive(Debug, Default)]
struct SharedBurst {
    burst: Mutex<Burst>,
    news: Notify,
}

impl SharedBurst {
    /// Adds one event, on the watcher's thread.
    fn add(&self, places: &RootPlaces, event: notify::Result<notify::Event>) {
        let mut burst = self.burst.lock().unwrap_or_else(PoisonError::into_inner);
        if burst.add(places.real(), event, &places::leads_to_folder) {
            self.news.notify_one();
        }
    }

    /// Takes the burst since the last call.
    fn take_burst(&self) -> Burst {
        std::mem::take(&mut *self.burst.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// One tree under watch.
struct WatchedTree {
    /// The root as it was given: hints begin with it.
    root: PathBuf,
    /// The same from the root of the file system.
    full: PathBuf,
    shared: Arc<SharedBurst>,
    /// The watcher, and the places that it was made for.
    armed: Option<(RecommendedWatcher, RootPlaces)>,
}

impl WatchedTree {
    /// Watches until the receiver is dropped.
    async fn run(&mut self, events: &mpsc::Sender<EngineInput>) {
        let mut rescan = interval(RESCAN);
        rescan.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let seen = self.shared.clone();
        loop {
            let hint = tokio::select! {
                _ = rescan.tick() => Hint::Tree,
                () = seen.news.notified() => {
                    self.wait_until_quiet().await;
                    self.hint()
                }
            };
            if hint == Hint::Tree {
                self.arm().await;
            }
            let paths = match hint {
                Hint::Nothing => continue,
                Hint::Tree => Vec::new(),
                Hint::Paths(paths) => paths,
            };
            if events.send(EngineInput::Files(paths)).await.is_err() {
                return;
            }
        }
    }

    /// Waits until the tree is quiet.
    async fn wait_until_quiet(&self) {
        let now = Instant::now();
        let limit = now.checked_add(BURST_MAX).unwrap_or(now);
        loop {
            let now = Instant::now();
            let quiet = now.checked_add(QUIET).unwrap_or(now).min(limit);
            let more = timeout_at(quiet, self.shared.news.notified()).await.is_ok();
            if !more || quiet >= limit {
                return;
            }
        }
    }

    /// Summarises the events since the last call.
    fn hint(&mut self) -> Hint {
        let burst = self.shared.take_burst();
        if burst.lost || (burst.around && !self.is_current()) {
            self.armed = None;
            return Hint::Tree;
        }
        match (burst.hint(), &self.armed) {
            (Hint::Paths(paths), Some((_, places))) => Hint::Paths(self.rebase(&paths, places)),
            (hint, _) => hint,
        }
    }

    /// Rewrites paths beneath the real root to begin with the root as it was given.
    fn rebase(&self, paths: &[PathBuf], places: &RootPlaces) -> Vec<PathBuf> {
        let below = paths.iter().filter_map(|path| path.strip_prefix(places.real()).ok());
        below.map(|path| self.root.join(path)).collect()
    }

    /// Returns whether the watcher watches the present target of the root.
    fn is_current(&self) -> bool {
        let now = RootPlaces::of(&self.full);
        self.armed.as_ref().is_some_and(|(_, places)| *places == now)
    }

    /// Makes a new watcher for the present tree, unless the old one watches it.
    async fn arm(&mut self) {
        if self.is_current() {
            return;
        }
        let (full, seen) = (self.full.clone(), self.shared.clone());
        let armed = tokio::task::spawn_blocking(move || arm(&full, &seen)).await;
        self.armed = match armed {
            Ok(Ok(armed)) => Some(armed),
            Ok(Err(error)) => {
                tracing::warn!(%error, "cannot watch the specs; checking them once a minute");
                None
            }
            Err(error) => {
                tracing::error!(%error, "cannot watch the specs");
                None
            }
        };
    }
}

/// Makes a watcher of everything beneath `full`, and of the folders in which an entry could replace
/// it. Symlinks beneath are not followed: the reader does not either, and they may lead anywhere.
fn arm(full: &Path, seen: &Arc<SharedBurst>) -> notify::Result<(RecommendedWatcher, RootPlaces)> {
    let places = RootPlaces::of(full);
    let handler = {
        let (places, seen) = (places.clone(), seen.clone());
        move |event| seen.add(&places, event)
    };
    let config = Config::default().with_follow_symlinks(false);
    let mut watcher = RecommendedWatcher::new(handler, config)?;
    for folder in places.around() {
        watcher.watch(folder, RecursiveMode::NonRecursive)?;
    }
    if places.exists() {
        watcher.watch(places.real(), RecursiveMode::Recursive)?;
    }
    Ok((watcher, places))
}

#[cfg(test)]
mod tests;
