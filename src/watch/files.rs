//! Watches a few single files: waits until the content of one of them changes.
//!
//! Guarantees: a change is found within a second where the operating system reports it, and within
//! a minute otherwise. A write of the same content is no change. A file is read some time after the
//! first sign of a change, so that a writer has finished.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::mpsc;
use tokio::time::{Interval, MissedTickBehavior, interval, sleep};
use zeroize::Zeroizing;

use crate::base::hash::{Digest, sha256};

/// Time for a writer to finish after the first sign of a change.
const QUIET: Duration = Duration::from_millis(100);
/// Interval between readings, whatever the events are.
const RESCAN: Duration = Duration::from_mins(1);

/// A watch over single files. Paths may be absent or replaced; their folders are watched.
#[derive(Debug)]
pub struct FileWatch {
    files: Vec<PathBuf>,
    known: Vec<Option<Digest>>,
    events: mpsc::Receiver<()>,
    rescan: Interval,
    /// Sends `events` while it exists; `None` where the operating system offers no watch.
    watcher: Option<RecommendedWatcher>,
    watched: BTreeSet<PathBuf>,
}

impl FileWatch {
    /// Begins a watch; the present contents are known.
    pub fn new(files: Vec<PathBuf>) -> Self {
        let (sender, events) = mpsc::channel(1);
        let watcher = notify::recommended_watcher(move |_: notify::Result<notify::Event>| {
            // A full channel has a hint that was not taken yet.
            sender.try_send(()).unwrap_or_default();
        });
        let watcher = watcher.inspect_err(|error| tracing::warn!(%error, "watching files failed"));
        let mut rescan = interval(RESCAN);
        rescan.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let known = digests(&files);
        let mut watch =
            Self { files, known, events, rescan, watcher: watcher.ok(), watched: BTreeSet::new() };
        watch.watch_folders();
        watch
    }

    /// Watches one more file; its present content is known.
    pub fn add(&mut self, file: PathBuf) {
        self.known.extend(digests(std::slice::from_ref(&file)));
        self.files.push(file);
        self.watch_folders();
    }

    /// Waits until the content of a file differs from the one that is known.
    pub async fn changed(&mut self) {
        loop {
            self.watch_folders();
            if digests(&self.files) == self.known {
                tokio::select! {
                    Some(()) = self.events.recv() => {}
                    _ = self.rescan.tick() => continue,
                }
            }
            sleep(QUIET).await;
            let now = digests(&self.files);
            if now != self.known {
                self.known = now;
                return;
            }
        }
    }

    pub fn mark_known(&mut self) {
        self.known = digests(&self.files);
    }

    /// Watches the folders of the files, and of the files that they link to. A folder that does not
    /// exist yet is tried again.
    fn watch_folders(&mut self) {
        let Some(watcher) = &mut self.watcher else { return };
        for folder in folders(&self.files) {
            if !self.watched.contains(&folder)
                && watcher.watch(&folder, RecursiveMode::NonRecursive).is_ok()
            {
                self.watched.insert(folder);
            }
        }
    }
}

/// Returns the folders in which these files, and the files that they link to, have their names.
fn folders(files: &[PathBuf]) -> BTreeSet<PathBuf> {
    let real = files.iter().filter_map(|file| file.canonicalize().ok());
    let all = files.iter().cloned().chain(real);
    all.filter_map(|file| std::path::absolute(file).ok()?.parent().map(PathBuf::from)).collect()
}

/// Returns the digest of each file; `None` for one that cannot be read.
fn digests(files: &[PathBuf]) -> Vec<Option<Digest>> {
    let digest = |file: &PathBuf| std::fs::read(file).ok().map(Zeroizing::new);
    files.iter().map(|file| digest(file).map(|bytes| sha256(&bytes))).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_file_is_changed_once_its_writer_has_finished() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("one");
        fs::write(&file, "old").unwrap();
        let mut watch = FileWatch::new(vec![file.clone()]);
        fs::write(&file, "").unwrap();
        let writer = async {
            sleep(QUIET / 2).await;
            fs::write(&file, "new").unwrap();
        };
        tokio::join!(watch.changed(), writer);
        assert_eq!(watch.known, [Some(sha256(b"new"))]);
    }

    #[tokio::test]
    async fn a_new_content_is_found_and_the_same_content_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (folder.path().join("one"), folder.path().join("other"));
        fs::write(&one, "a").unwrap();
        let mut watch = FileWatch::new(vec![one.clone(), other.clone()]);
        fs::write(&one, "a").unwrap();
        fs::write(&other, "made later").unwrap();
        watch.changed().await;
        fs::write(folder.path().join("new"), "b").unwrap();
        fs::rename(folder.path().join("new"), &one).unwrap();
        watch.changed().await;
        fs::remove_file(&other).unwrap();
        watch.mark_known();
        watch.add(one.clone());
        assert_eq!(watch.known, [Some(sha256(b"b")), None, Some(sha256(b"b"))]);
    }
}
