//! Bursts: collects file events until the tree is quiet, and summarises them as one hint.
//!
//! Pure: a function supplied by the caller inspects paths.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use notify::event::{AccessKind, AccessMode, ModifyKind};
use notify::{Event, EventKind};

/// Maximum number of paths; more become one reading of the whole tree.
const PATHS_MAX: usize = 1000;

/// The part of the tree to read again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Hint {
    Nothing,
    Paths(Vec<PathBuf>),
    Tree,
}

#[derive(Debug, Default)]
pub(crate) struct Burst {
    paths: BTreeSet<PathBuf>,
    whole_tree: bool,
    /// Events were lost: the watcher's state is no longer reliable.
    pub(crate) lost: bool,
    /// An entry beside the root changed: the root may lead elsewhere.
    pub(crate) around: bool,
}

impl Burst {
    /// Adds an event; returns whether it is relevant.
    pub(crate) fn add(
        &mut self,
        root: &Path,
        event: notify::Result<Event>,
        leads_to_folder: &dyn Fn(&Path) -> bool,
    ) -> bool {
        let event = match event {
            Ok(event) if event.need_rescan() => return self.mark_lost(),
            Ok(event) => event,
            Err(error) => {
                tracing::warn!(%error, "watching the specs failed");
                return self.mark_lost();
            }
        };
        if !is_relevant(event.kind) {
            return false;
        }
        let mut news = false;
        for path in &event.paths {
            news |= match path.strip_prefix(root) {
                Ok(below) if below.as_os_str().is_empty() => self.handle_beside_root(event.kind),
                Ok(below) => self.handle_beneath_root(path, below, event.kind, leads_to_folder),
                Err(_) => self.handle_beside_root(event.kind),
            };
        }
        news
    }

    pub(crate) fn hint(self) -> Hint {
        if self.whole_tree || self.lost || self.paths.len() > PATHS_MAX {
            Hint::Tree
        } else if self.paths.is_empty() {
            Hint::Nothing
        } else {
            Hint::Paths(self.paths.into_iter().collect())
        }
    }

    fn mark_lost(&mut self) -> bool {
        self.lost = true;
        true
    }

    /// Handles an event at the root itself, or at an entry beside it. A write to a file there is
    /// ignored.
    fn handle_beside_root(&mut self, kind: EventKind) -> bool {
        let named = is_entry(kind);
        self.around |= named;
        named
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

/// Hiding of a path.
enum PathVisibility {
    /// Not hidden.
    Visible,
    /// In or at a folder of Kubernetes's form: `..2026_11_20`, `..data`.
    KubernetesFolder,
    /// Its own name begins with a dot.
    DotName,
    /// It is beneath such a name.
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
    match kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write))
        | EventKind::Any
        | EventKind::Create(_)
        | EventKind::Modify(_)
        | EventKind::Remove(_)
        | EventKind::Other => true,
        EventKind::Access(_) => false,
    }
}

/// Returns whether a name appeared or disappeared.
fn is_entry(kind: EventKind) -> bool {
    matches!(kind, EventKind::Create(_) | EventKind::Remove(_)) || is_rename(kind)
}

fn is_rename(kind: EventKind) -> bool {
    matches!(kind, EventKind::Modify(ModifyKind::Name(_)))
}

#[cfg(test)]
mod tests {
    use notify::event::{CreateKind, DataChange, Flag, RemoveKind, RenameMode};

    use super::*;

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
