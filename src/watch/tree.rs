//! Watches one tree: resolves its path to the folder that it leads to, makes the watcher, collects
//! file events until the tree is quiet, and summarises such a burst as one hint.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use notify::event::{AccessKind, AccessMode, ModifyKind};
use notify::{Config, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use parking_lot::Mutex;
use tokio::sync::{Notify, mpsc};
use tokio::time::{Instant, MissedTickBehavior, interval, timeout_at};

use crate::engine::protocol::input::EngineInput;

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
    #[error("find {}: {source}", root.display())]
    Path { root: PathBuf, source: std::io::Error },
}

/// Sends hints about the tree at `root` until `shutdown` ends or the receiver is dropped. The first
/// hint, a reading of the whole tree, shows that the watch has begun. A root that does not exist
/// yet is awaited.
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
    fn add(&self, places: &RootPlaces, event: notify::Result<Event>) {
        let mut burst = self.burst.lock();
        if burst.add(&places.real, event, &Path::is_dir) {
            self.news.notify_one();
        }
    }
}

struct WatchedTree {
    /// The root as it was given: hints begin with it.
    root: PathBuf,
    /// The same from the root of the file system.
    full: PathBuf,
    shared: Arc<SharedBurst>,
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
        let burst = std::mem::take(&mut *self.shared.burst.lock());
        if burst.lost || (burst.around && !self.is_current()) {
            self.armed = None;
            return Hint::Tree;
        }
        match (burst.hint(), &self.armed) {
            (Hint::Paths(paths), Some((_, places))) => {
                let below = paths.iter().filter_map(|path| path.strip_prefix(&places.real).ok());
                Hint::Paths(below.map(|path| self.root.join(path)).collect())
            }
            (hint, _) => hint,
        }
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
    let (all, seen) = (places.clone(), seen.clone());
    let config = Config::default().with_follow_symlinks(false);
    let mut watcher = RecommendedWatcher::new(move |event| seen.add(&all, event), config)?;
    for folder in &places.around {
        watcher.watch(folder, RecursiveMode::NonRecursive)?;
    }
    if places.identity.is_some() {
        watcher.watch(&places.real, RecursiveMode::Recursive)?;
    }
    Ok((watcher, places))
}

// Resolution of a path: the folder that it leads to, and the folders whose entries decide that.

/// Maximum number of followed symlinks, the same as the operating system's.
const HOPS_MAX: usize = 40;

/// The target of the root. Equal until another entry replaces it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RootPlaces {
    /// The root without symlinks, as far as it exists.
    real: PathBuf,
    /// Folders with an entry on the way to the root that could be replaced.
    around: BTreeSet<PathBuf>,
    /// Device and inode of the root; `None` when it does not exist.
    identity: Option<(u64, u64)>,
}

impl RootPlaces {
    /// Follows a path from the root of the file system.
    pub(crate) fn of(full: &Path) -> Self {
        let mut around = BTreeSet::new();
        let mut here = full.to_owned();
        for _ in 0..HOPS_MAX {
            let Some((link, rest)) = first_link(&here) else { break };
            let folder = link.parent().unwrap_or(Path::new("/")).to_owned();
            let Ok(target) = fs::read_link(&link) else { break };
            here = folder.join(target).join(rest);
            around.insert(folder);
        }
        let real = here.canonicalize().unwrap_or(here);
        around.extend(real.parent().map(Path::to_owned));
        around.retain(|folder| folder.is_dir());
        let found = fs::metadata(&real).ok().filter(fs::Metadata::is_dir);
        Self { real, around, identity: found.map(|root| (root.dev(), root.ino())) }
    }
}

/// Returns the first part of a path that is a symlink, and the rest behind it.
fn first_link(path: &Path) -> Option<(PathBuf, PathBuf)> {
    let mut parts = path.components();
    let mut here = PathBuf::new();
    while let Some(part) = parts.next() {
        here.push(part);
        if fs::symlink_metadata(&here).is_ok_and(|found| found.is_symlink()) {
            return Some((here, parts.as_path().to_owned()));
        }
    }
    None
}

/// Maximum number of paths; more become one reading of the whole tree.
const PATHS_MAX: usize = 1000;

/// The part of the tree to read again.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Hint {
    Nothing,
    Paths(Vec<PathBuf>),
    Tree,
}

#[derive(Debug, Default)]
struct Burst {
    paths: BTreeSet<PathBuf>,
    whole_tree: bool,
    /// Events were lost: the watcher's state is no longer reliable.
    lost: bool,
    /// An entry beside the root changed: the root may lead elsewhere.
    around: bool,
}

impl Burst {
    /// Adds an event; returns whether it is relevant.
    fn add(
        &mut self,
        root: &Path,
        event: notify::Result<Event>,
        leads_to_folder: &dyn Fn(&Path) -> bool,
    ) -> bool {
        let event = event
            .inspect_err(|error| tracing::warn!(%error, "watching the specs failed"))
            .ok()
            .filter(|event| !event.need_rescan());
        let Some(event) = event else {
            self.lost = true;
            return true;
        };
        if !is_relevant(event.kind) {
            return false;
        }
        let mut news = false;
        for path in &event.paths {
            news |= match path.strip_prefix(root) {
                Ok(below) if !below.as_os_str().is_empty() => {
                    self.handle_beneath_root(path, below, event.kind, leads_to_folder)
                }
                // At the root itself, or at an entry beside it, a write to a file is ignored.
                Ok(_) | Err(_) => {
                    self.around |= is_entry(event.kind);
                    is_entry(event.kind)
                }
            };
        }
        news
    }

    fn hint(self) -> Hint {
        if self.whole_tree || self.lost || self.paths.len() > PATHS_MAX {
            Hint::Tree
        } else if self.paths.is_empty() {
            Hint::Nothing
        } else {
            Hint::Paths(self.paths.into_iter().collect())
        }
    }

    /// Handles an event beneath the root. A folder that replaces another one requires a reading of
    /// the whole tree. So does a hidden one that visible symlinks may lead through (`..data`).
    fn handle_beneath_root(
        &mut self,
        path: &Path,
        below: &Path,
        kind: EventKind,
        leads_to_folder: &dyn Fn(&Path) -> bool,
    ) -> bool {
        let swap = is_rename(kind) && leads_to_folder(path);
        match path_visibility(below) {
            PathVisibility::Visible if swap => self.whole_tree = true,
            PathVisibility::Visible => {
                if self.paths.len() <= PATHS_MAX {
                    self.paths.insert(path.to_owned());
                }
            }
            PathVisibility::KubernetesFolder => self.whole_tree = true,
            PathVisibility::DotName if is_entry(kind) && leads_to_folder(path) => {
                self.whole_tree = true;
            }
            PathVisibility::DotName | PathVisibility::BeneathDotName => return false,
        }
        true
    }
}

enum PathVisibility {
    Visible,
    /// In or at a folder of Kubernetes's form: `..2026_11_20`, `..data`.
    KubernetesFolder,
    /// Its own name begins with a dot.
    DotName,
    BeneathDotName,
}

fn path_visibility(below: &Path) -> PathVisibility {
    let mut parts = below.components();
    let dotted = parts.find_map(|part| match part {
        Component::Normal(name) => {
            let name = name.as_encoded_bytes();
            name.starts_with(b".").then(|| name.starts_with(b".."))
        }
        Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => {
            None
        }
    });
    match dotted {
        None => PathVisibility::Visible,
        Some(true) => PathVisibility::KubernetesFolder,
        Some(false) if parts.next().is_none() => PathVisibility::DotName,
        Some(false) => PathVisibility::BeneathDotName,
    }
}

/// Returns whether an event can mean a change; readers of the tree cause events, too.
fn is_relevant(kind: EventKind) -> bool {
    let writes = kind == EventKind::Access(AccessKind::Close(AccessMode::Write));
    writes || !matches!(kind, EventKind::Access(_))
}

/// Returns whether a name appeared or disappeared.
fn is_entry(kind: EventKind) -> bool {
    matches!(kind, EventKind::Create(_) | EventKind::Remove(_)) || is_rename(kind)
}

fn is_rename(kind: EventKind) -> bool {
    matches!(kind, EventKind::Modify(ModifyKind::Name(_)))
}
