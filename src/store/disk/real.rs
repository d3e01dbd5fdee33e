//! The production [`Disk`]: one directory of a real file system.
//!
//! Why it exists: the care that durable files need (directory syncs, temporary names, written
//! zeros) is in one place.
//!
//! Contract: files are 0600 in a directory of 0700. A name is flat and plain. A link or a directory
//! in the place of a file is refused, so that nothing outside the directory is ever touched. Files
//! that were written stay open, a bounded number of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io, thread};

use parking_lot::Mutex;

use crate::store::disk::directory::private_dir;
use crate::store::disk::traits::{Disk, to_u64, to_usize};

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
        let left = file.metadata()?.len().saturating_sub(offset);
        let mut bytes = vec![0; len.min(to_usize(left))];
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
            let others: Vec<_> =
                others.iter().map(|name| scope.spawn(|| self.sync(name))).collect();
            let last = self.sync(last);
            let ended =
                others.into_iter().map(|one| one.join().unwrap_or_else(|why| resume_unwind(why)));
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
        let mut file =
            OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
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
            let left = to_usize(len.saturating_sub(end));
            let zeros = ZEROS.get(..left).unwrap_or(&ZEROS);
            file.write_all_at(zeros, end)?;
            end = end.saturating_add(to_u64(zeros.len()));
        }
        file.sync_all()?;
        self.sync_name(name)
    }
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
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;
    use crate::store::disk::traits::MemoryDisk;

    /// The contract of every disk.
    fn conforms(disk: &dyn Disk) {
        assert_eq!(disk.len("a").unwrap_err().kind(), io::ErrorKind::NotFound);
        assert!(disk.sync("a").is_err());
        disk.write_at("a", 2, b"xyz").unwrap();
        assert_eq!(disk.read_at("a", 0, 99).unwrap(), b"\0\0xyz");
        assert_eq!(disk.read_at("a", 9, 3).unwrap(), b"");
        disk.allocate("a", 8).unwrap();
        disk.allocate("a", 4).unwrap();
        assert_eq!(disk.len("a").unwrap(), 8);
        disk.cut("a", 3).unwrap();
        disk.cut("a", 30).unwrap();
        assert_eq!(disk.read_at("a", 0, 99).unwrap(), b"\0\0x");
        disk.replace("a", b"new").unwrap();
        disk.write_at("a", 3, b"er").unwrap();
        disk.sync("a").unwrap();
        disk.sync_all(&["a"]).unwrap();
        assert!(disk.sync_all(&["a", "gone"]).is_err() && disk.sync_all(&["gone", "a"]).is_err());
        assert_eq!(disk.read_at("a", 0, 99).unwrap(), b"newer");
        assert_eq!(disk.list().unwrap(), ["a"]);
        disk.replace("b", b"old").unwrap();
        disk.rename("a", "b").unwrap();
        assert!(disk.rename("a", "b").is_err());
        assert_eq!(disk.read_at("b", 0, 99).unwrap(), b"newer");
        disk.rename("b", "a").unwrap();
        assert_eq!(disk.list().unwrap(), ["a"]);
        disk.remove("a").unwrap();
        assert_eq!(disk.list().unwrap(), [""; 0]);
    }

    #[test]
    fn a_disk_in_memory_keeps_the_contract() {
        conforms(&MemoryDisk::new());
    }

    #[test]
    fn a_real_disk_keeps_the_contract() {
        let dir = tempfile::tempdir().unwrap();
        conforms(&RealDisk::open(dir.path()).unwrap());
    }

    #[test]
    fn no_name_leads_out_of_the_directory() {
        let dir = tempfile::tempdir().unwrap();
        let outside = dir.path().join("outside");
        fs::write(&outside, b"theirs").unwrap();
        let disk = RealDisk::open(&dir.path().join("state")).unwrap();
        symlink(&outside, dir.path().join("state/link")).unwrap();
        for name in ["link", "../outside", "", ".hidden", "a/b"] {
            assert!(disk.read_at(name, 0, 9).is_err(), "{name}");
            assert!(disk.write_at(name, 0, b"ours").is_err(), "{name}");
        }
        assert_eq!(fs::read(outside).unwrap(), b"theirs");
    }

    #[test]
    fn the_name_of_a_new_file_is_made_durable_with_its_first_content() {
        let dir = tempfile::tempdir().unwrap();
        let disk = RealDisk::open(dir.path()).unwrap();
        disk.write_at("a", 0, b"a").unwrap();
        assert!(disk.handles.lock().fresh.contains("a"));
        disk.sync("a").unwrap();
        assert!(disk.handles.lock().fresh.is_empty(), "the directory was synced");
        assert!(sync_dir(dir.path()).is_ok());
        assert!(sync_dir(&dir.path().join("nowhere")).is_err());
    }

    #[test]
    fn only_the_owner_reads_what_is_stored() {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join("state");
        let disk = RealDisk::open(&state).unwrap();
        disk.write_at("a", 0, b"a").unwrap();
        disk.replace("b", b"b").unwrap();
        let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(state.clone()), 0o700);
        assert_eq!((mode(state.join("a")), mode(state.join("b"))), (0o600, 0o600));
    }
}
