use std::os::unix::fs::symlink;

use super::*;
use crate::store::disk::traits::MemoryDisk;
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
