//! Restores over real folders: an existing state is never deleted, and an incomplete one is never
//! opened.

use super::*;
use crate::model::record::StateOwner;
use crate::store::backup::write::{BackupSource, write};
use crate::store::disk::directory::LockOwner;

fn key() -> MasterKey {
    MasterKey::new([3; 32])
}

fn opening(dir: &Path) -> StateOptions {
    let owner = LockOwner { pid: 1, host: "here".into(), started: "now".into() };
    StateOptions { dir: dir.to_owned(), owner, boot: "b".into(), rebuild: false, marking: None }
}

fn wanted(dir: &Path) -> RestoreRequest {
    let at = "2026-11-22T12:00:00Z".parse().unwrap();
    RestoreRequest {
        opening: opening(dir),
        partner: Some("acme".into()),
        replace: false,
        nothing_since: false,
        at,
        actor: "uid 1".into(),
    }
}

/// A state of some holds, and a backup of it.
async fn backed_up(dir: &Path, to: &Path) {
    fs::create_dir_all(dir).unwrap();
    let state = OpenState::open(&opening(dir), &key()).unwrap();
    let binding = StateOwner {
        partner: "acme".into(),
        client: "c".into(),
        key: key().fingerprint(),
        epoch: 0,
        began: None,
    };
    state.check_owner(&binding).await.unwrap();
    let at = "2026-11-21T12:00:00Z".parse().unwrap();
    let hold = |name: &str| Record::OnHold {
        key: format!("Contact/{name}").parse().unwrap(),
        reason: "x".into(),
        at,
    };
    state.writer.append(Commit::of(vec![hold("a"), hold("b")])).await.unwrap();
    let source = BackupSource {
        journal: Arc::new(RealDisk::open(&dir.join("journal")).unwrap()),
        archive: None,
        vault: Arc::new(RealDisk::open(&dir.join("vault")).unwrap()),
        head: state.writer.head(),
        at,
        compactions: None,
    };
    write(&source, to, &key(), &mut |_, _| {}).unwrap();
    state.writer.append(Commit::of(vec![hold("lost")])).await.unwrap();
    state.close().await.unwrap();
}

async fn tried(to: &Path, wanted: &RestoreRequest) -> Result<RestoreResult, RestoreError> {
    restore(&ExistingBackup::open(to).unwrap(), wanted, &key(), &mut |_, _| {}).await
}

#[tokio::test]
async fn a_restore_opens_a_new_epoch_and_moves_the_old_state_aside() {
    let folder = tempfile::tempdir().unwrap();
    let (dir, to) = (folder.path().join("state"), folder.path().join("one.backup"));
    backed_up(&dir, &to).await;
    assert!(matches!(tried(&to, &wanted(&dir)).await, Err(RestoreError::Occupied { .. })));
    let done = tried(&to, &RestoreRequest { replace: true, ..wanted(&dir) }).await.unwrap();
    assert_eq!((done.epoch.epoch, done.epoch.backup_sequence, done.sequence), (1, 3, 4));
    let aside = done.aside.unwrap();
    assert!(aside.join("journal/00000000000000000001.seg").exists());
    let state = OpenState::open(&opening(&dir), &key()).unwrap();
    assert_eq!(state.facts.state_owner().unwrap().unwrap().epoch, 1);
    let epoch = state.facts.epoch().unwrap().unwrap();
    assert!(epoch.holds_unfindable && epoch.looks_up_first);
    assert_eq!(state.facts.observed_state(&"Contact/lost".parse().unwrap()).unwrap(), None);
    assert_eq!(state.verify().unwrap().sequence, 4);
}

#[tokio::test]
async fn a_restore_into_nothing_is_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let (dir, to) = (folder.path().join("state"), folder.path().join("copy"));
    backed_up(&folder.path().join("first"), &to).await;
    fs::create_dir_all(&dir).unwrap();
    let wanted = RestoreRequest { nothing_since: true, ..wanted(&dir) };
    let done = tried(&to, &wanted).await.unwrap();
    assert_eq!((done.aside, done.sequence), (None, 5));
    let state = OpenState::open(&opening(&dir), &key()).unwrap();
    let epoch = state.facts.epoch().unwrap().unwrap();
    assert!(
        !epoch.holds_unfindable && !epoch.looks_up_first,
        "a person said that nothing was sent"
    );
}

#[tokio::test]
async fn a_backup_that_does_not_hold_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (dir, to) = (folder.path().join("state"), folder.path().join("copy"));
    backed_up(&dir, &to).await;
    fs::write(to.join("vault/keys"), b"").unwrap();
    let wanted = RestoreRequest { replace: true, partner: Some("other".into()), ..wanted(&dir) };
    let Err(RestoreError::Unverified { wrong }) = tried(&to, &wanted).await else {
        panic!("it was restored");
    };
    let wrong: Vec<_> = wrong.iter().map(|wrong| wrong.what.as_str()).collect();
    assert_eq!(wrong, ["partner", "vault/keys", "vault"]);
    let state = OpenState::open(&opening(&dir), &key()).unwrap();
    assert_eq!(state.writer.head().sequence, 4, "the state is as it was");
}

#[tokio::test]
async fn a_restore_that_was_interrupted_is_not_opened_but_restored_again() {
    let folder = tempfile::tempdir().unwrap();
    let (dir, to) = (folder.path().join("state"), folder.path().join("copy"));
    backed_up(&dir, &to).await;
    fs::write(dir.join(RESTORING), b"").unwrap();
    let error = OpenState::open(&opening(&dir), &key()).unwrap_err();
    assert!(error.to_string().contains("reckon store restore"), "{error}");
    let done = tried(&to, &wanted(&dir)).await.unwrap();
    assert_eq!(done.epoch.epoch, 1);
    assert!(OpenState::open(&opening(&dir), &key()).is_ok());
}
