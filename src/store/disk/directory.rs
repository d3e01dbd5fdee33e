//! A state directory on a real file system: its one owner, and the production [`Disk`].
//!
//! Why it exists: two writers of one journal would break the chain. The operating system holds the
//! lock and drops it when its holder dies; the file's text only names the holder to the loser. The
//! care that durable files need (directory syncs, temporary names, written zeros) is in one place.
//!
//! Contract: every folder of a state is readable by its owner alone (0700), and so are its files
//! (0600). A name is flat and plain. A link or a directory in the place of a file is refused, so that
//! nothing outside the directory is ever touched. A bounded number of written files stays open.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io, thread};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::store::disk::traits::{Disk, to_u64, to_usize};

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

/// Returns the error for a held lock; its holder may not have written its name yet.
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
    #[error("lock {path}: another process holds it")]
    HeldByUnknown { path: PathBuf },
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

/// Files kept open after writing; the journal writes one at a time, the vault two.
const OPEN_FILES_MAX: usize = 16;
const NAME_BYTES_MAX: usize = 128;
static ZEROS: [u8; 65536] = [0; 65536];

#[derive(Debug)]
pub struct RealDisk {
    dir: PathBuf,
    handles: Mutex<Handles>,
}

#[derive(Debug, Default)]
struct Handles {
    files: BTreeMap<String, Arc<File>>,
    /// Files whose name may not be durable yet.
    fresh: BTreeSet<String>,
}

impl RealDisk {
    /// Opens the directory; creates it (0700) if it does not exist, and closes it to others. Names
    /// that an earlier process left behind are made durable.
    pub fn open(dir: &Path) -> io::Result<Self> {
        let is_new = !dir.is_dir();
        private_dir(dir)?;
        let parent = dir.parent().filter(|parent| is_new && !parent.as_os_str().is_empty());
        if let Some(parent) = parent {
            sync_dir(parent)?;
        }
        sync_dir(dir)?;
        Ok(Self { dir: dir.to_owned(), handles: Mutex::default() })
    }

    fn path(&self, name: &str) -> io::Result<PathBuf> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        let flat = !name.is_empty()
            && name.len() <= NAME_BYTES_MAX
            && !name.starts_with('.')
            && name.bytes().all(plain);
        if flat { Ok(self.dir.join(name)) } else { Err(input_error(name, "is not a plain name")) }
    }

    /// Returns the open file, or a handle for this one use.
    fn reading(&self, name: &str) -> io::Result<Arc<File>> {
        if let Some(file) = self.handles.lock().files.get(name) {
            return Ok(Arc::clone(file));
        }
        let path = self.path(name)?;
        require_regular(&path, name)?;
        Ok(Arc::new(File::open(path)?))
    }

    /// Returns the open file for writing; creates it if `make` is set and it does not exist.
    fn writing(&self, name: &str, make: bool) -> io::Result<Arc<File>> {
        let mut handles = self.handles.lock();
        if let Some(file) = handles.files.get(name) {
            return Ok(Arc::clone(file));
        }
        let path = self.path(name)?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).mode(0o600);
        let file = match require_regular(&path, name) {
            Ok(()) => options.open(&path)?,
            Err(error) if make && error.kind() == io::ErrorKind::NotFound => {
                let file = options.create_new(true).open(&path)?;
                handles.fresh.insert(name.to_owned());
                file
            }
            Err(error) => return Err(error),
        };
        Ok(handles.keep(name, file))
    }

    fn sync_name(&self, name: &str) -> io::Result<()> {
        if self.handles.lock().fresh.contains(name) {
            sync_dir(&self.dir)?;
            self.handles.lock().fresh.remove(name);
        }
        Ok(())
    }

    fn forget(&self, name: &str) {
        let mut handles = self.handles.lock();
        handles.files.remove(name);
        handles.fresh.remove(name);
    }
}

impl Handles {
    fn keep(&mut self, name: &str, file: File) -> Arc<File> {
        while self.files.len() >= OPEN_FILES_MAX && self.files.pop_first().is_some() {}
        let file = Arc::new(file);
        self.files.insert(name.to_owned(), Arc::clone(&file));
        file
    }
}

impl Disk for RealDisk {
    fn list(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.dir)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if !name.starts_with('.') {
                names.push(name);
            }
        }
        Ok(names)
    }

    fn len(&self, name: &str) -> io::Result<u64> {
        Ok(self.reading(name)?.metadata()?.len())
    }

    fn read_at(&self, name: &str, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        let file = self.reading(name)?;
        let mut bytes = vec![0; len.min(to_usize(file.metadata()?.len().saturating_sub(offset)))];
        file.read_exact_at(&mut bytes, offset)?;
        Ok(bytes)
    }

    fn write_at(&self, name: &str, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.writing(name, true)?.write_all_at(bytes, offset)
    }

    fn sync(&self, name: &str) -> io::Result<()> {
        self.writing(name, false)?.sync_data()?;
        self.sync_name(name)
    }

    /// Syncs all files concurrently: the file system then writes what they share only once.
    fn sync_all(&self, names: &[&str]) -> io::Result<()> {
        let Some((last, others)) = names.split_last() else {
            return Ok(());
        };
        thread::scope(|scope| {
            let rest: Vec<_> = others.iter().map(|name| scope.spawn(|| self.sync(name))).collect();
            let last = self.sync(last);
            let ended =
                rest.into_iter().map(|one| one.join().unwrap_or_else(|why| resume_unwind(why)));
            ended.chain([last]).collect()
        })
    }

    fn cut(&self, name: &str, len: u64) -> io::Result<()> {
        let file = self.writing(name, false)?;
        if file.metadata()?.len() > len {
            file.set_len(len)?;
        }
        file.sync_all()
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let path = self.path(name)?;
        self.forget(name);
        fs::remove_file(path)?;
        sync_dir(&self.dir)
    }

    fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.path(name)?;
        let temporary = self.dir.join(format!(".{name}.tmp"));
        match fs::remove_file(&temporary) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        let mut file = create_private(&temporary)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&temporary, path)?;
        self.forget(name);
        sync_dir(&self.dir)
    }

    fn rename(&self, name: &str, to: &str) -> io::Result<()> {
        let (path, place) = (self.path(name)?, self.path(to)?);
        require_regular(&path, name)?;
        fs::rename(path, place)?;
        self.forget(name);
        self.forget(to);
        sync_dir(&self.dir)
    }

    fn allocate(&self, name: &str, len: u64) -> io::Result<()> {
        let file = self.writing(name, true)?;
        let mut end = file.metadata()?.len();
        while end < len {
            let zeros = ZEROS.get(..to_usize(len.saturating_sub(end))).unwrap_or(&ZEROS);
            file.write_all_at(zeros, end)?;
            end = end.saturating_add(to_u64(zeros.len()));
        }
        file.sync_all()?;
        self.sync_name(name)
    }

    fn free_bytes(&self) -> Option<u64> {
        let free = rustix::fs::statvfs(&self.dir).ok()?;
        Some(free.f_bavail.saturating_mul(free.f_frsize))
    }
}

/// Creates a file that only its owner can read.
pub(crate) fn create_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// Makes the names in a directory durable.
pub(crate) fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

fn require_regular(path: &Path, name: &str) -> io::Result<()> {
    if fs::symlink_metadata(path)?.is_file() {
        Ok(())
    } else {
        Err(input_error(name, "is not a regular file"))
    }
}

fn input_error(name: &str, why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("{name:?} {why}"))
}

#[cfg(test)]
mod tests;
