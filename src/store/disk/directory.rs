//! One owner of a state directory at a time.
//!
//! Why it exists: two writers of one journal would break the chain. The operating system holds the
//! lock and drops it when its holder dies; the file's text only names the holder to the loser.
//!
//! Every folder of a state is readable by its owner alone.

use std::fs::{DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::{Deserialize, Serialize};

pub const LOCK_FILE: &str = "lock";
const TEXT_BYTES_MAX: u64 = 4096;

/// Holder of the lock, named in the error message of other processes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockOwner {
    pub pid: u32,
    pub host: String,
    /// Start of the process, RFC 3339.
    pub started: String,
}

/// The lock on a state directory, held until dropped.
#[derive(Debug)]
pub struct StateLock {
    _file: File,
}

impl StateLock {
    /// Takes the lock on this directory, which must exist, or fails at once.
    pub fn acquire(dir: &Path, who: &LockOwner) -> Result<Self, LockError> {
        let path = dir.join(LOCK_FILE);
        let io = |source| LockError::Io { path: path.clone(), source };
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .map_err(io)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(held_error(file, path)),
            Err(TryLockError::Error(source)) => return Err(io(source)),
        }
        write_owner(&mut file, who).map_err(io)?;
        Ok(Self { _file: file })
    }
}

fn write_owner(file: &mut File, who: &LockOwner) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(serde_json::to_string(who)?.as_bytes())
}

/// Returns the error for a held lock. The holder may not have written its name yet; then none is
/// given.
fn held_error(file: File, path: PathBuf) -> LockError {
    let mut text = String::new();
    let read = file.take(TEXT_BYTES_MAX).read_to_string(&mut text);
    match read.ok().and_then(|_| serde_json::from_str::<LockOwner>(&text).ok()) {
        Some(owner) => LockError::Held { path, owner },
        None => LockError::HeldByUnknown { path },
    }
}

#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error(
        "lock {path}: process {} on {} has held it since {}", owner.pid, owner.host, owner.started
    )]
    Held { path: PathBuf, owner: LockOwner },
    /// Another process holds the lock and has not written its name.
    #[error("lock {path}: another process holds it")]
    HeldByUnknown { path: PathBuf },
    /// The lock file could not be opened or written.
    #[error("lock {path}: {source}")]
    Io { path: PathBuf, source: io::Error },
}

const OWN: u32 = 0o700;
/// The mode bits that let others in.
const OTHERS: u32 = 0o077;
/// The sticky bit of a shared folder such as `/tmp`.
const SHARED: u32 = 0o1000;

/// Creates a folder that only its owner can enter, and the folders above it. An existing folder
/// that lets others in is closed to them, with a warning, unless it is not ours to close.
pub fn private_dir(dir: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(OWN).create(dir)?;
    let found = fs::metadata(dir)?;
    let is_open = found.mode() & OTHERS != 0;
    let is_own = found.uid() == rustix::process::geteuid().as_raw() && found.mode() & SHARED == 0;
    if !is_open {
        return Ok(());
    }
    let shown = dir.display();
    match is_own.then(|| fs::set_permissions(dir, Permissions::from_mode(OWN))) {
        Some(Ok(())) => {
            tracing::warn!(
                "other users of this machine had access to {shown}; their access is now removed"
            );
        }
        Some(Err(_)) | None => {
            tracing::warn!(
                "other users of this machine have access to {shown}: run `chmod 0700 {shown}`"
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::disk::real::RealDisk;
    use crate::store::index::sled::SledIndex;

    fn owner(pid: u32) -> LockOwner {
        LockOwner { pid, host: "here".to_owned(), started: "2026-01-02T03:04:05Z".to_owned() }
    }

    #[test]
    fn the_loser_learns_who_holds_the_lock() {
        let dir = tempfile::tempdir().unwrap();
        let held = StateLock::acquire(dir.path(), &owner(123_456)).unwrap();
        let error = StateLock::acquire(dir.path(), &owner(2)).unwrap_err();
        assert!(matches!(&error, LockError::Held { owner: held, .. } if *held == owner(123_456)));
        assert!(error.to_string().contains("since 2026-01-02T03:04:05Z"));
        drop(held);
        let again = StateLock::acquire(dir.path(), &owner(2)).unwrap();
        let error = StateLock::acquire(dir.path(), &owner(3)).unwrap_err();
        assert!(matches!(&error, LockError::Held { owner: held, .. } if held.pid == 2));
        drop(again);
    }

    #[test]
    fn a_holder_without_a_name_still_holds() {
        let dir = tempfile::tempdir().unwrap();
        let _held = StateLock::acquire(dir.path(), &owner(1)).unwrap();
        fs::write(dir.path().join(LOCK_FILE), "").unwrap();
        let error = StateLock::acquire(dir.path(), &owner(2)).unwrap_err();
        assert!(matches!(error, LockError::HeldByUnknown { .. }));
    }

    fn mode(dir: &Path) -> u32 {
        fs::metadata(dir).unwrap().mode() & 0o777
    }

    /// Closes S11: only its owner can enter a folder of a state, also one that was created open.
    #[test]
    fn folders_of_a_state_are_closed_to_others() {
        let dir = tempfile::tempdir().unwrap();
        let opened = |name: &str| {
            let path = dir.path().join(name);
            fs::create_dir(&path).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
            path
        };
        let [state, journal, sled] = ["state", "journal", "sled"].map(opened);
        private_dir(&state).unwrap();
        drop(RealDisk::open(&journal).unwrap());
        drop(SledIndex::open(&sled).unwrap());
        let fresh = dir.path().join("a/fresh");
        drop(SledIndex::open(&fresh).unwrap());
        for path in [state, journal, sled, dir.path().join("a"), fresh] {
            assert_eq!(mode(&path), 0o700, "{}", path.display());
        }
    }

    #[test]
    fn a_folder_that_everybody_shares_stays_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let shared = dir.path().join("shared");
        fs::create_dir(&shared).unwrap();
        fs::set_permissions(&shared, Permissions::from_mode(0o1777)).unwrap();
        private_dir(&shared).unwrap();
        assert_eq!(mode(&shared), 0o777);
    }
}
