//! Compaction of the vault.

use super::*;
use crate::store::tests::support::FullDisk;
use crate::store::vault::frame::newest_generation;

/// A survey in which these texts were read.
fn survey(vault: &Vault, texts: &[String]) -> ValueSurvey {
    let mut survey = vault.survey().unwrap();
    for text in texts {
        survey.named.restart();
        survey.named.read(text.as_bytes());
    }
    survey
}

fn opens(vault: &Vault, reference: &VaultRef) -> Option<Vec<u8>> {
    vault.unseal(reference).ok().map(|plain| plain.to_vec())
}

/// Closes K11: unnamed values are dropped, with the keys of subjects that have no value.
#[test]
fn only_what_is_named_stays_and_the_files_shrink() {
    let disk = MemoryDisk::new();
    let first = open(&disk);
    let kept = put(&first, "jane", b"kept", 1);
    let gone = put(&first, "john", &[7; 9000], 2);
    let erased = put(&first, "jill", &[8; 9000], 3);
    let within = first.seal("jack", b"x", &mut seeded_rng(4)).unwrap();
    first.write(std::slice::from_ref(&within)).unwrap();
    let text = first.seal("jack", b"within", &mut seeded_rng(5)).unwrap().inline_text().unwrap();
    first.erase("jill").unwrap();
    drop(first);
    let vault = open(&disk);
    let named = survey(&vault, &[kept.to_string(), erased.to_string(), text.clone()]);
    let late = put(&vault, "june", b"late", 6);
    let pending = vault.seal("june", b"pending", &mut seeded_rng(7)).unwrap();
    assert_eq!(vault.drop_unnamed(&named).unwrap(), 2, "john's and jack's");
    vault.write(std::slice::from_ref(&pending)).unwrap();
    vault.sync().unwrap();
    assert_eq!(disk.list().unwrap(), ["data.1", "keys"]);
    assert!(disk.len("data.1").unwrap() < 700, "{:?}", disk.len("data.1"));
    assert!(!file(&disk, "keys").windows(4).any(|window| window == b"john"));
    for vault in [vault, open(&disk)] {
        assert_eq!(opens(&vault, &kept), Some(b"kept".to_vec()));
        assert_eq!(opens(&vault, &late), Some(b"late".to_vec()));
        assert_eq!(opens(&vault, &pending.reference()), Some(b"pending".to_vec()));
        assert_eq!(vault.unseal_text(&text).unwrap().as_slice(), b"within");
        assert!(matches!(vault.unseal(&gone), Err(VaultError::Missing { .. })));
        assert!(matches!(vault.unseal(&erased), Err(VaultError::Erased { .. })));
        assert_eq!(vault.find_gaps().unwrap(), []);
    }
}

/// Closes K11.
#[test]
fn a_vault_of_which_all_is_named_is_left_alone() {
    let disk = MemoryDisk::new();
    let vault = open(&disk);
    assert_eq!(vault.drop_unnamed(&vault.survey().unwrap()).unwrap(), 0, "there is nothing");
    let one = put(&vault, "jane", b"one", 1);
    assert_eq!(vault.drop_unnamed(&survey(&vault, &[one.to_string()])).unwrap(), 0);
    assert_eq!(disk.list().unwrap(), ["data", "keys"]);
    let two = put(&vault, "jane", b"two", 2);
    assert_eq!(vault.drop_unnamed(&survey(&vault, &[two.to_string()])).unwrap(), 1);
    let three = put(&vault, "jane", b"three", 3);
    assert_eq!(vault.drop_unnamed(&survey(&vault, &[three.to_string()])).unwrap(), 1);
    assert_eq!(disk.list().unwrap(), ["data.2", "keys"]);
    assert_eq!(opens(&open(&disk), &three), Some(b"three".to_vec()));
}

/// Closes K11: a full disk, or a kill, at any step.
#[test]
fn a_compaction_that_stops_anywhere_leaves_every_named_value() {
    let whole = MemoryDisk::new();
    let vault = open(&whole);
    let kept = put(&vault, "jane", b"kept", 1);
    put(&vault, "john", b"gone", 2);
    drop(vault);
    let mut stopped = 0;
    for room in 0..12 {
        let inner = whole.copy();
        let disk = FullDisk::new(inner.clone(), room);
        let vault = Vault::open(Arc::new(disk.clone()), &master(1)).unwrap();
        let done = vault.drop_unnamed(&survey(&vault, &[kept.to_string()]));
        stopped += usize::from(done.is_err());
        assert_eq!(opens(&vault, &kept), Some(b"kept".to_vec()), "after {room} changes");
        let vault = open(&inner);
        assert_eq!(opens(&vault, &kept), Some(b"kept".to_vec()), "after {room} changes, reopened");
        let late = put(&vault, "jane", b"late", 3);
        let names = [kept.to_string(), late.to_string()];
        vault.drop_unnamed(&survey(&vault, &names)).unwrap();
        assert_eq!(opens(&open(&inner), &late), Some(b"late".to_vec()), "after {room} changes");
        assert_eq!(newest_generation(&inner).unwrap(), 1, "after {room} changes");
    }
    assert!(stopped > 3 && stopped < 12, "{stopped}");
}
