use std::fs;
use std::os::unix::fs::symlink;

use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::*;

/// Maximum time for a hint on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// A watch of `specs` in a folder of its own, once it has begun.
struct Watched {
    folder: tempfile::TempDir,
    events: mpsc::Receiver<EngineInput>,
    stop: Option<oneshot::Sender<()>>,
    done: JoinHandle<Result<(), WatchError>>,
}

impl Watched {
    /// Watches after `prepare` made the folder ready.
    async fn over(prepare: impl FnOnce(&Path)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        prepare(folder.path());
        let (sender, events) = mpsc::channel(8);
        let (stop, stopped) = oneshot::channel::<()>();
        let root = folder.path().join("specs");
        let done = tokio::spawn(watch(root, sender, async { drop(stopped.await) }));
        let mut watched = Self { folder, events, stop: Some(stop), done };
        assert_eq!(watched.next().await, Vec::<PathBuf>::new(), "the first look is at everything");
        watched
    }

    fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    /// Waits for the next hint.
    async fn next(&mut self) -> Vec<PathBuf> {
        match timeout(PATIENCE, self.events.recv()).await.expect("a hint in time") {
            Some(EngineInput::Files(paths)) => paths,
            other => panic!("{other:?}"),
        }
    }

    /// Waits for a hint that includes this path.
    async fn looks_at(&mut self, below: &str) {
        let wanted = self.path(below);
        loop {
            let paths = self.next().await;
            if paths.is_empty() || paths.iter().any(|path| wanted.starts_with(path)) {
                return;
            }
        }
    }

    /// Waits for a hint of the whole tree.
    async fn looks_at_everything(&mut self) {
        while !self.next().await.is_empty() {}
    }

    /// Writes a file and waits for a hint of it alone, which shows that the watch sees it.
    async fn sees(&mut self, below: &str) {
        let path = self.path(below);
        fs::write(&path, "a: 1\n").unwrap();
        while self.next().await != [path.clone()] {}
    }
}

/// Creates `specs` with a folder and a file in it.
fn specs(folder: &Path) {
    fs::create_dir_all(folder.join("specs/team")).unwrap();
    fs::write(folder.join("specs/team/a.yaml"), "a: 1\n").unwrap();
}

#[tokio::test]
async fn a_file_is_hinted_at_whether_written_new_or_gone() {
    let mut watched = Watched::over(specs).await;
    watched.sees("specs/team/a.yaml").await;
    watched.sees("specs/new.yaml").await;
    fs::remove_file(watched.path("specs/new.yaml")).unwrap();
    watched.looks_at("specs/new.yaml").await;
}

#[tokio::test]
async fn a_file_that_an_editor_renames_over_is_hinted_at() {
    let mut watched = Watched::over(specs).await;
    let (fresh, file) = (watched.path("specs/.a.yaml.tmp"), watched.path("specs/team/a.yaml"));
    fs::write(&fresh, "a: 2\n").unwrap();
    fs::rename(&fresh, &file).unwrap();
    assert_eq!(watched.next().await, [file]);
}

#[tokio::test]
async fn a_file_that_was_read_is_no_news() {
    let mut watched = Watched::over(specs).await;
    fs::read(watched.path("specs/team/a.yaml")).unwrap();
    fs::write(watched.path("reckon.yaml"), "beside the specs\n").unwrap();
    let file = watched.path("specs/b.yaml");
    fs::write(&file, "a: 1\n").unwrap();
    assert_eq!(watched.next().await, [file]);
}

#[tokio::test]
async fn a_new_folder_is_followed() {
    let mut watched = Watched::over(specs).await;
    fs::create_dir_all(watched.path("specs/deep/er")).unwrap();
    watched.looks_at("specs/deep").await;
    watched.sees("specs/deep/er/b.yaml").await;
}

#[tokio::test]
async fn a_folder_put_in_another_s_place_is_a_look_at_everything() {
    let mut watched = Watched::over(specs).await;
    fs::create_dir(watched.path("other")).unwrap();
    fs::rename(watched.path("specs/team"), watched.path("gone")).unwrap();
    fs::rename(watched.path("other"), watched.path("specs/team")).unwrap();
    watched.looks_at_everything().await;
    watched.sees("specs/team/b.yaml").await;
}

#[tokio::test]
async fn a_root_put_in_another_s_place_is_watched() {
    let mut watched = Watched::over(specs).await;
    fs::create_dir(watched.path("other")).unwrap();
    fs::rename(watched.path("specs"), watched.path("gone")).unwrap();
    fs::rename(watched.path("other"), watched.path("specs")).unwrap();
    watched.looks_at_everything().await;
    watched.sees("specs/b.yaml").await;
}

#[tokio::test]
async fn a_root_that_is_not_there_yet_is_waited_for() {
    let mut watched = Watched::over(|_| {}).await;
    fs::create_dir(watched.path("specs")).unwrap();
    watched.looks_at_everything().await;
    watched.sees("specs/b.yaml").await;
    fs::remove_dir_all(watched.path("specs")).unwrap();
    watched.looks_at_everything().await;
}

#[tokio::test]
async fn a_symlinked_root_is_followed_wherever_it_leads() {
    let versions = |folder: &Path| {
        fs::create_dir_all(folder.join("one/specs")).unwrap();
        fs::create_dir_all(folder.join("two/specs")).unwrap();
        symlink("one", folder.join("current")).unwrap();
        symlink("current/specs", folder.join("specs")).unwrap();
    };
    let mut watched = Watched::over(versions).await;
    watched.sees("specs/a.yaml").await;
    symlink("two", watched.path("next")).unwrap();
    fs::rename(watched.path("next"), watched.path("current")).unwrap();
    watched.looks_at_everything().await;
    watched.sees("specs/a.yaml").await;
    fs::rename(watched.path("two/specs"), watched.path("two/gone")).unwrap();
    fs::create_dir(watched.path("two/specs")).unwrap();
    watched.looks_at_everything().await;
    watched.sees("specs/a.yaml").await;
}

#[tokio::test]
async fn a_swap_of_the_hidden_data_folder_is_a_look_at_everything() {
    let mounted = |folder: &Path| {
        fs::create_dir_all(folder.join("specs/..1")).unwrap();
        fs::write(folder.join("specs/..1/a.yaml"), "a: 1\n").unwrap();
        symlink("..1", folder.join("specs/..data")).unwrap();
        symlink("..data/a.yaml", folder.join("specs/a.yaml")).unwrap();
    };
    let mut watched = Watched::over(mounted).await;
    fs::create_dir(watched.path("specs/..2")).unwrap();
    fs::write(watched.path("specs/..2/a.yaml"), "a: 2\n").unwrap();
    symlink("..2", watched.path("specs/..data_tmp")).unwrap();
    fs::rename(watched.path("specs/..data_tmp"), watched.path("specs/..data")).unwrap();
    watched.looks_at_everything().await;
}

#[tokio::test]
async fn a_symlink_out_of_the_tree_is_not_followed() {
    let leaky = |folder: &Path| {
        specs(folder);
        fs::create_dir(folder.join("outside")).unwrap();
        symlink("../outside", folder.join("specs/out")).unwrap();
    };
    let mut watched = Watched::over(leaky).await;
    fs::write(watched.path("outside/x.yaml"), "a: 1\n").unwrap();
    let file = watched.path("specs/b.yaml");
    fs::write(&file, "a: 1\n").unwrap();
    assert_eq!(watched.next().await, [file]);
}

#[tokio::test(start_paused = true)]
async fn everything_is_looked_at_every_minute() {
    let folder = tempfile::tempdir().unwrap();
    let (sender, mut events) = mpsc::channel(8);
    let start = Instant::now();
    tokio::spawn(watch(folder.path().to_owned(), sender, std::future::pending()));
    for minute in 0..3 {
        assert!(matches!(events.recv().await, Some(EngineInput::Files(paths)) if paths.is_empty()));
        assert!(start.elapsed() >= RESCAN * minute);
        assert!(start.elapsed() < RESCAN * (minute + 1));
    }
}

#[tokio::test]
async fn the_watch_ends_when_told_to_or_when_nobody_listens() {
    let mut watched = Watched::over(specs).await;
    watched.stop.take().unwrap().send(()).unwrap();
    timeout(PATIENCE, watched.done).await.expect("in time").unwrap().unwrap();
    let Watched { folder, events, stop: _stop, done } = Watched::over(specs).await;
    drop(events);
    fs::write(folder.path().join("specs/b.yaml"), "a: 1\n").unwrap();
    timeout(PATIENCE, done).await.expect("in time").unwrap().unwrap();
}
