//! Backups in both forms, over a state on a real disk.

use std::path::Path;
use std::sync::Arc;

use crate::model::record::{Record, StateOwner};
use crate::store::backup::manifest::ExistingBackup;
use crate::store::backup::restore::verify;
use crate::store::backup::write::{BackupSource, Compactions, contents, write, *};
use crate::store::disk::directory::RealDisk;
use crate::store::index::ordered::MemoryIndex;
use crate::store::journal::chain::Head;
use crate::store::journal::files::JournalOptions;
use crate::store::journal::log::Journal;
use crate::store::tests::support::seeded_rng;
use crate::store::vault::key::MasterKey;
use crate::store::vault::values::Vault;
use crate::store::writer::core::Commit;
use crate::store::writer::handle::Writer;

fn key() -> MasterKey {
    MasterKey::new([3; 32])
}

fn hold(name: &str) -> Record {
    let at = "2026-11-21T12:00:00Z".parse().unwrap();
    Record::OnHold { key: format!("Contact/{name}").parse().unwrap(), reason: "x".into(), at }
}

/// Makes a state with a few records and a sealed value, and returns the source of a backup.
async fn source(dir: &Path, records: usize) -> BackupSource {
    let journal = Arc::new(RealDisk::open(&dir.join("journal")).unwrap());
    let disk = Arc::new(RealDisk::open(&dir.join("vault")).unwrap());
    let options = JournalOptions { segment_bytes: 1024, ..JournalOptions::default() };
    let (opened, _) = Journal::open(journal.clone(), options).unwrap();
    let vault = Vault::open(disk.clone(), &key()).unwrap();
    let sealed = vault.seal("Contact/default/a", b"secret", &mut seeded_rng(1)).unwrap();
    let fold = crate::store::projection::fold::IndexFold::new(Arc::new(MemoryIndex::new()));
    let writer = Writer::inline(opened, vault, fold);
    let binding = StateOwner {
        partner: "acme".into(),
        client: "c".into(),
        key: key().fingerprint(),
        epoch: 0,
        began: None,
    };
    let first = Commit { blobs: vec![sealed], records: vec![Record::StateOwner(binding)] };
    writer.append(first).await.unwrap();
    for number in 0..records {
        writer.append(Commit::of(vec![hold(&format!("c{number}"))])).await.unwrap();
    }
    let at = "2026-11-21T12:00:00Z".parse().unwrap();
    BackupSource { journal, archive: None, vault: disk, head: writer.head(), at, compactions: None }
}

fn none() -> impl FnMut(u64, u64) {
    |_, _| {}
}

#[tokio::test]
async fn a_backup_of_either_form_proves_itself_and_never_holds_the_key() {
    let dir = tempfile::tempdir().unwrap();
    let source = source(&dir.path().join("state"), 30).await;
    for name in ["folder", "one.backup"] {
        let to = dir.path().join(name);
        let mut told = Vec::new();
        let (manifest, proof) =
            write(&source, &to, &key(), &mut |done, of| told.push((done, of))).unwrap();
        let kept = ExistingBackup::open(&to).unwrap();
        assert_eq!(kept.manifest, manifest);
        assert_eq!((manifest.sequence, manifest.partner.as_str()), (31, "acme"));
        assert_eq!(verify(&kept, &key(), &mut none()), Ok(proof));
        let files = walkdir::WalkDir::new(&to).into_iter().flatten();
        for file in files.filter(|entry| entry.file_type().is_file()) {
            let bytes = fs::read(file.path()).unwrap();
            assert!(!bytes.windows(32).any(|window| window == [3; 32]), "the key is in {file:?}");
        }
        assert_eq!(told.last().map(|(done, of)| done == of), Some(true), "{told:?}");
        let again = write(&source, &to, &key(), &mut none());
        assert!(matches!(again, Err(BackupError::Occupied { .. })));
    }
    let left: Vec<_> = fs::read_dir(dir.path()).unwrap().flatten().collect();
    assert_eq!(left.len(), 3, "nothing half written is left: {left:?}");
}

#[tokio::test]
async fn what_is_appended_after_the_head_was_chosen_is_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let all = source(&dir.path().join("state"), 30).await;
    let reader = Journal::open(all.journal.clone(), JournalOptions::default()).unwrap().0;
    let tenth = reader.read_from(10).next().unwrap().unwrap();
    let head = Head { sequence: 10, hash: tenth.hash };
    let to = dir.path().join("one.backup");
    let (manifest, _) = write(&BackupSource { head, ..all }, &to, &key(), &mut none()).unwrap();
    assert_eq!(manifest.sequence, 10);
    let proved = verify(&ExistingBackup::open(&to).unwrap(), &key(), &mut none()).unwrap();
    assert_eq!(proved.resources, 9);
}

#[tokio::test]
async fn every_problem_of_a_damaged_backup_is_told_in_one_run() {
    let dir = tempfile::tempdir().unwrap();
    let source = source(&dir.path().join("state"), 30).await;
    let to = dir.path().join("folder");
    write(&source, &to, &key(), &mut none()).unwrap();
    let data = to.join("vault/data");
    let mut bytes = fs::read(&data).unwrap();
    bytes[20] ^= 1;
    fs::write(&data, bytes).unwrap();
    let first = to.join("journal/00000000000000000001.seg");
    let mut bytes = fs::read(&first).unwrap();
    bytes[100] ^= 1;
    fs::write(&first, bytes).unwrap();
    let wrong = verify(&ExistingBackup::open(&to).unwrap(), &MasterKey::new([4; 32]), &mut none());
    let wrong: Vec<String> = wrong.unwrap_err().into_iter().map(|wrong| wrong.what).collect();
    let first = "journal/00000000000000000001.seg";
    assert_eq!(wrong, [first, "vault/data", "vault", "journal"]);
}

#[tokio::test]
async fn a_file_that_was_cut_or_is_something_else_is_no_backup() {
    let dir = tempfile::tempdir().unwrap();
    let source = source(&dir.path().join("state"), 3).await;
    let to = dir.path().join("one.backup");
    write(&source, &to, &key(), &mut none()).unwrap();
    let bytes = fs::read(&to).unwrap();
    for cut in [0, 5, 100, bytes.len() - 1] {
        fs::write(&to, &bytes[..cut]).unwrap();
        assert!(matches!(ExistingBackup::open(&to), Err(BackupError::Unreadable { .. })), "{cut}");
    }
    assert!(ExistingBackup::open(&dir.path().join("none")).is_err());
}

#[tokio::test]
async fn a_vault_that_cannot_be_read_is_no_empty_one() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    let source = source(&state, 1).await;
    assert!(contents(&source).unwrap().keys().any(|name| name.starts_with("vault/")));
    let file = state.join("vault").join("data");
    fs::remove_file(&file).unwrap();
    let fresh = || BackupSource {
        vault: Arc::new(RealDisk::open(&state.join("vault")).unwrap()),
        journal: Arc::clone(&source.journal),
        archive: None,
        ..source
    };
    assert!(contents(&fresh()).is_ok(), "what is not there is not copied");
    fs::create_dir(&file).unwrap();
    assert!(contents(&fresh()).is_err());
}

#[tokio::test]
async fn a_manifest_knows_how_much_it_lists() {
    let dir = tempfile::tempdir().unwrap();
    let source = source(&dir.path().join("state"), 5).await;
    let (manifest, _) = write(&source, &dir.path().join("folder"), &key(), &mut none()).unwrap();
    let held: usize = contents(&source).unwrap().values().map(Vec::len).sum();
    assert!(held > 0);
    assert_eq!(manifest.bytes(), u64::try_from(held).unwrap());
}

/// Closes K11: a copy with files from before and after a compaction is not kept.
#[tokio::test]
async fn a_backup_beside_a_compaction_is_refused_and_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let source = source(&dir.path().join("state"), 5).await;
    let compactions = Some(Compactions::of(&source.journal, &source.vault).unwrap());
    let source = BackupSource { compactions, ..source };
    let to = dir.path().join("folder");
    let vault = Arc::clone(&source.vault);
    let mut compacted = |_: u64, _: u64| vault.replace("data.1", b"").unwrap();
    let refused = write(&source, &to, &key(), &mut compacted);
    assert!(matches!(refused, Err(BackupError::Compacted)), "{refused:?}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "the state alone");
    let compactions = Some(Compactions::of(&source.journal, &source.vault).unwrap());
    assert!(write(&BackupSource { compactions, ..source }, &to, &key(), &mut none()).is_ok());
}
