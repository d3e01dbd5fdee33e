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

mod bursts {
    use notify::event::{CreateKind, DataChange, Flag, RemoveKind, RenameMode};

    use super::super::*;

    const WRITTEN: EventKind = EventKind::Modify(ModifyKind::Data(DataChange::Any));
    const MADE: EventKind = EventKind::Create(CreateKind::Any);
    const GONE: EventKind = EventKind::Remove(RemoveKind::Any);
    const RENAMED: EventKind = EventKind::Modify(ModifyKind::Name(RenameMode::Any));

    /// Returns the hint of one event; names that end in `/` lead to folders.
    fn hint(kind: EventKind, path: &str) -> Hint {
        let mut burst = Burst::default();
        let event = Event::new(kind).add_path(PathBuf::from(path.trim_end_matches('/')));
        let news = burst.add(Path::new("/r/specs"), Ok(event), &|_| path.ends_with('/'));
        let around = burst.around;
        let hint = burst.hint();
        assert_eq!(news, around || hint != Hint::Nothing, "{path}");
        hint
    }

    #[test]
    fn a_visible_path_is_looked_at_alone() {
        for kind in [WRITTEN, MADE, GONE, RENAMED] {
            let path = "/r/specs/a/b.yaml";
            assert_eq!(hint(kind, path), Hint::Paths(vec![PathBuf::from(path)]));
        }
        let made = Hint::Paths(vec![PathBuf::from("/r/specs/new")]);
        assert_eq!(hint(MADE, "/r/specs/new/"), made);
    }

    #[test]
    fn a_folder_that_was_renamed_is_a_matter_of_the_whole_tree() {
        assert_eq!(hint(RENAMED, "/r/specs/a/"), Hint::Tree);
        assert_eq!(hint(RENAMED, "/r/specs/..data/"), Hint::Tree);
        assert_eq!(hint(RENAMED, "/r/specs/.current/"), Hint::Tree);
        assert_eq!(hint(WRITTEN, "/r/specs/..2026/a.yaml"), Hint::Tree);
    }

    #[test]
    fn what_the_reader_skips_or_causes_itself_says_nothing() {
        assert_eq!(hint(WRITTEN, "/r/specs/.git/index"), Hint::Nothing);
        assert_eq!(hint(MADE, "/r/specs/.a.yaml.swp"), Hint::Nothing);
        assert_eq!(hint(WRITTEN, "/r/reckon.yaml"), Hint::Nothing);
        for access in [AccessKind::Read, AccessKind::Open(AccessMode::Any)] {
            assert_eq!(hint(EventKind::Access(access), "/r/specs/a.yaml"), Hint::Nothing);
        }
    }

    #[test]
    fn an_entry_beside_the_root_asks_where_the_root_leads() {
        let mut burst = Burst::default();
        let event = Event::new(RENAMED).add_path(PathBuf::from("/r/..data"));
        assert!(burst.add(Path::new("/r/specs"), Ok(event), &|_| true));
        assert!(burst.around && burst.hint() == Hint::Nothing);
    }

    #[test]
    fn lost_events_and_errors_and_floods_are_the_whole_tree() {
        let lost = Ok(Event::new(EventKind::Other).set_flag(Flag::Rescan));
        for event in [lost, Err(notify::Error::generic("limit"))] {
            let mut burst = Burst::default();
            assert!(burst.add(Path::new("/r"), event, &|_| false));
            assert!(burst.lost);
            assert_eq!(burst.hint(), Hint::Tree);
        }
        let mut flood = Burst::default();
        for number in 0..=PATHS_MAX {
            let event = Event::new(WRITTEN).add_path(PathBuf::from(format!("/r/{number}.yaml")));
            assert!(flood.add(Path::new("/r"), Ok(event), &|_| false));
        }
        assert_eq!(flood.hint(), Hint::Tree);
    }
}
