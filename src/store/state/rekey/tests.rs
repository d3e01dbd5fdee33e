//! Exchanges of a state's key, with its files: S14.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use crate::store::disk::directory::{LockOwner, RealDisk};
use crate::store::disk::traits::Disk;
use crate::store::error::{OpenError, OpenReport};
use crate::store::index::ordered::{Index, MemoryIndex};
use crate::store::state::open::{AssembledState, StateOptions, StateParts, assemble};
use crate::store::state::rekey::*;
use crate::store::tests::support::{FullDisk, seeded_rng};
use crate::store::vault::key::{KEY_FILE, VaultRef};
use crate::store::vault::keys::state_identity;

/// A state with one sealed value, in a folder with its key file.
struct Place {
    dir: tempfile::TempDir,
    sealed: VaultRef,
}

impl Place {
    async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let key =
            MasterKey::read_or_create_file(&dir.path().join(KEY_FILE), &mut seeded_rng(1)).unwrap();
        let mut place = Self { dir, sealed: "0".repeat(32).parse().unwrap() };
        let state = place.open(&key);
        let sealed = state.vault.seal("Contact/jane", b"4242", &mut seeded_rng(2)).unwrap();
        place.sealed = sealed.reference();
        let record = Record::EmptyRemote { at: at(), actor: "uid 1".into() };
        state.writer.append(Commit { blobs: vec![sealed], records: vec![record] }).await.unwrap();
        state.close().await.unwrap();
        place
    }

    fn state(&self) -> PathBuf {
        self.dir.path().join("state")
    }

    fn file(&self) -> KeyFile {
        KeyFile::of(&self.state())
    }

    fn open(&self, key: &MasterKey) -> OpenState {
        self.try_open(key).unwrap()
    }

    fn try_open(&self, key: &MasterKey) -> Result<OpenState, OpenError> {
        let owner = LockOwner { pid: 1, host: "h".into(), started: "s".into() };
        let (dir, boot) = (self.state(), "b".to_owned());
        OpenState::open(&StateOptions { dir, owner, boot, rebuild: false, marking: None }, key)
    }

    /// Tries this key on the vault; the rest of the state stays closed.
    fn opens(&self, key: &MasterKey) -> bool {
        let vault = RealDisk::open(&self.state().join("vault")).unwrap();
        state_identity(&vault, key).is_ok()
    }

    fn key(&self) -> MasterKey {
        self.file().read().unwrap().unwrap()
    }

    /// Checks that the state opens by its files alone and holds its value, and that one key file is
    /// left. Returns its key.
    async fn is_whole(&self, step: &str) -> String {
        let key = self.key();
        let state = self.open(&key);
        assert_eq!(state.vault.unseal(&self.sealed).unwrap().as_slice(), b"4242", "{step}");
        self.file().settle(&key).unwrap();
        assert_eq!(self.files(), [KEY_FILE], "{step}");
        assert_eq!(self.key().fingerprint(), key.fingerprint(), "{step}");
        state.verify().unwrap();
        state.close().await.unwrap();
        key.fingerprint()
    }

    /// Files beside the state.
    fn files(&self) -> Vec<String> {
        let names = fs::read_dir(self.dir.path()).unwrap().map(|one| one.unwrap().file_name());
        let names = names.map(|name| name.into_string().unwrap());
        names.filter(|name| name != "state").collect()
    }

    async fn rekey(
        &self,
        key_file: Option<KeyFile>,
        new: Option<PathBuf>,
    ) -> Result<Rekeyed, RekeyError> {
        let state = self.open(&self.key());
        let done = Rekeyer::new(&state, key_file, seeded_rng(5)).rekey(&wanted(new)).await;
        state.close().await.unwrap();
        done
    }
}

fn at() -> DateTime<Utc> {
    "2026-11-21T12:00:00Z".parse().unwrap()
}

fn wanted(new_key_file: Option<PathBuf>) -> RekeyRequest {
    RekeyRequest { new_key_file, at: at(), actor: "uid 1".into() }
}

/// Closes S14: after a crash behind any step of an exchange the files decide which key counts.
#[tokio::test]
async fn a_crash_behind_any_step_leaves_a_state_that_its_files_open() {
    for steps in 0..4 {
        let place = Place::new().await;
        let (old, new) = (place.key(), MasterKey::generate(&mut seeded_rng(3)));
        if steps > 0 {
            place.file().stage(&new, &mut seeded_rng(4)).unwrap();
        }
        if steps > 1 {
            let state = place.open(&old);
            state.vault.rekey(&new, (at(), "uid 1".into()), &mut seeded_rng(4)).unwrap();
            state.close().await.unwrap();
        }
        if steps > 2 {
            place.file().settle(&new).unwrap();
        }
        let counts = if steps > 1 { &new } else { &old };
        assert_eq!(place.is_whole(&format!("{steps} steps")).await, counts.fingerprint());
        assert_eq!(place.try_open(&old).is_ok(), steps < 2, "{steps} steps");
    }
}

/// Closes S14: after any change that vault or journal refuses, exactly one key opens the state, and
/// it is on disk.
#[tokio::test]
async fn a_disk_that_refuses_any_change_leaves_a_state_that_its_files_open() {
    let mut done = 0;
    for room in 0..12 {
        let place = Place::new().await;
        let old = place.key();
        let disk = |part| {
            let disk = RealDisk::open(&place.state().join(part)).unwrap();
            Arc::new(FullDisk::over(disk, usize::MAX / 2))
        };
        let (journal, vault) = (disk("journal"), disk("vault"));
        let index: Arc<dyn Index> = Arc::new(MemoryIndex::new());
        let pieces = StateParts {
            watch: None,
            journal: journal.clone(),
            vault: vault.clone(),
            index,
            boot: "b".into(),
            rebuild: false,
            segment_bytes: 1024,
        };
        let AssembledState { journal: opened, fold, vault: sealed, found: _ } =
            assemble(pieces, &old, OpenReport::default()).unwrap();
        journal.leave(room / 2);
        vault.leave(room.div_ceil(2));
        let writer = Arc::new(StateWriter::inline(opened, sealed.clone(), fold));
        let exchanger = Rekeyer {
            vault: sealed,
            writer,
            key_file: Some(place.file()),
            rng: Mutex::new(seeded_rng(5)),
        };
        let rekeyed = exchanger.rekey(&wanted(None)).await;
        done += usize::from(rekeyed.is_ok());
        drop(exchanger);
        let fingerprint = place.is_whole(&format!("room for {room} changes")).await;
        let is_old = fingerprint == old.fingerprint();
        assert_eq!(is_old, matches!(rekeyed, Err(RekeyError::InDoubt(_))), "{rekeyed:?}");
        assert_eq!(place.try_open(&old).is_ok(), is_old);
    }
    assert!(done > 0 && done < 11, "{done}");
}

/// Closes S14: the journal names time and person, and no part of a key; each exchange generates
/// another key.
#[tokio::test]
async fn an_exchange_is_a_record_and_the_key_file_holds_the_new_key() {
    let place = Place::new().await;
    let old = place.key();
    for generation in 1..3 {
        let rekeyed = place.rekey(Some(place.file()), None).await;
        if generation == 1 {
            assert_eq!(rekeyed.unwrap(), Rekeyed { generation, at: at(), actor: "uid 1".into() });
        } else {
            assert!(matches!(rekeyed, Err(RekeyError::Vault(VaultError::KeyUsed))), "{rekeyed:?}");
        }
        assert_ne!(place.is_whole("exchanged").await, old.fingerprint());
    }
    let mode = fs::metadata(place.file().path()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let journal = RealDisk::open(&place.state().join("journal")).unwrap();
    let bytes = journal.read_at("00000000000000000001.seg", 0, usize::MAX).unwrap();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    assert!(text.contains("rekeyed") || text.contains("Rekeyed"));
    assert!(!text.contains(&old.fingerprint()) && !text.contains(&place.key().fingerprint()));
}

/// Closes S14: a key that the operator gives is refused before anything changes, or becomes the one
/// that counts.
#[tokio::test]
async fn a_wrong_or_exposed_new_key_file_is_refused_and_nothing_is_changed() {
    let place = Place::new().await;
    let old = place.key();
    let new = place.dir.path().join("new");
    let refused = |error: RekeyError, word: &str| {
        let told = error.to_string();
        assert!(told.contains(word), "{told}");
        assert_eq!(place.key().fingerprint(), old.fingerprint());
        assert!(place.opens(&old), "{told}");
    };
    refused(place.rekey(None, None).await.unwrap_err(), "--new-key-file");
    refused(place.rekey(None, Some(new.clone())).await.unwrap_err(), "new");
    fs::write(&new, "c2VjcmV0").unwrap();
    fs::set_permissions(&new, fs::Permissions::from_mode(0o600)).unwrap();
    let malformed = place.rekey(None, Some(new.clone())).await.unwrap_err();
    assert!(!malformed.to_string().contains("c2V"));
    refused(malformed, "32 bytes");
    let text = MasterKey::generate(&mut seeded_rng(9)).to_base64();
    fs::write(&new, text.as_bytes()).unwrap();
    fs::set_permissions(&new, fs::Permissions::from_mode(0o640)).unwrap();
    refused(place.rekey(None, Some(new.clone())).await.unwrap_err(), "readable by other users");
    let own = Some(place.file().path().to_owned());
    refused(place.rekey(None, own).await.unwrap_err(), "has or had");
    refused(place.rekey(Some(place.file()), Some(new.clone())).await.unwrap_err(), "leave");
    fs::set_permissions(&new, fs::Permissions::from_mode(0o600)).unwrap();
    place.rekey(None, Some(new.clone())).await.unwrap();
    assert!(!place.opens(&old));
    let state = place.open(&MasterKey::read_file(&new).unwrap().unwrap());
    assert!(state.vault.unseal(&place.sealed).is_ok());
}

/// Closes S14: a key file that is a link, or that opens another state, too, is not exchanged.
#[tokio::test]
async fn a_key_file_that_is_not_of_this_state_alone_is_left_as_it_is() {
    let place = Place::new().await;
    let key = place.key();
    let other = StateOptions {
        dir: place.dir.path().join("other"),
        owner: LockOwner { pid: 1, host: "h".into(), started: "s".into() },
        boot: "b".into(),
        rebuild: false,
        marking: None,
    };
    drop(OpenState::open(&other, &key).unwrap());
    let shared = place.rekey(Some(place.file()), None).await.unwrap_err().to_string();
    assert!(shared.contains("other") && shared.contains("nothing was changed"), "{shared}");
    fs::remove_dir_all(&other.dir).unwrap();
    let real = place.dir.path().join("real");
    fs::rename(place.file().path(), &real).unwrap();
    symlink(&real, place.file().path()).unwrap();
    let link = place.rekey(Some(place.file()), None).await.unwrap_err().to_string();
    assert!(link.contains("is a link"), "{link}");
    assert_eq!(place.key().fingerprint(), key.fingerprint());
    assert!(place.try_open(&key).is_ok());
}
