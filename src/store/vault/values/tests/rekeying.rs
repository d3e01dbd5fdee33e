//! Exchanges of the master key: S14, `store rekey`.

use super::*;
use crate::store::tests::support::FullDisk;

const KEYS: &str = keys::KEYS_FILE;

fn at() -> chrono::DateTime<chrono::Utc> {
    "2026-11-21T12:00:00Z".parse().unwrap()
}

fn rekey(vault: &Vault, byte: u8) -> Result<u32, VaultError> {
    let said = (at(), "uid 1".to_owned());
    vault.rekey(&master(byte), said, &mut seeded_rng(u64::from(byte))).map(|done| done.generation)
}

fn opened(disk: &MemoryDisk, byte: u8) -> Result<Vault, VaultError> {
    Vault::open(Arc::new(disk.clone()), &master(byte))
}

/// Closes S14: the new key opens every value, and the error of the old key names the exchange.
#[test]
fn the_new_key_opens_what_was_sealed_before_and_the_old_key_opens_nothing() {
    let disk = MemoryDisk::new();
    let vault = open(&disk);
    let before = put(&vault, "acme", b"before", 1);
    let within = vault.seal("acme", b"within", &mut seeded_rng(2)).unwrap().inline_text().unwrap();
    let (digest, name) = (vault.digest("acme", b"content"), master(1).fingerprint());
    let digest_key = *master(1).derive("digest");
    for (byte, generation) in [(2, 1), (3, 2)] {
        assert_eq!(rekey(&vault, byte).unwrap(), generation);
        let after = put(&vault, "acme", b"after", u64::from(byte) + 10);
        for vault in [vault.clone(), opened(&disk, byte).unwrap()] {
            assert_eq!(vault.unseal(&before).unwrap().as_slice(), b"before");
            assert_eq!(vault.unseal_text(&within).unwrap().as_slice(), b"within");
            assert_eq!(vault.unseal(&after).unwrap().as_slice(), b"after");
            assert_eq!(vault.digest("acme", b"content"), digest);
            assert_eq!(vault.identity().digest_key(), digest_key);
            assert_eq!(vault.identity().name(), name);
            assert_eq!(vault.identity().last_rekey().map(|last| last.generation), Some(generation));
            assert!(vault.find_gaps().unwrap().is_empty());
        }
        for old in 1..byte {
            let refused = opened(&disk, old).unwrap_err().to_string();
            assert!(refused.contains("rekey") && refused.contains("2026-11-21"), "{refused}");
        }
        assert!(matches!(opened(&disk, 9), Err(VaultError::WrongKey)));
    }
}

/// Closes S14: a value sealed during the exchange and written after it is neither lost nor under
/// the old key.
#[test]
fn a_value_that_is_sealed_before_and_written_after_the_exchange_opens() {
    let disk = MemoryDisk::new();
    let vault = open(&disk);
    put(&vault, "known", b"x", 1);
    let sealed = ["known", "fresh", "fresh"].map(|subject| {
        vault
            .seal(
                subject,
                subject.as_bytes(),
                &mut seeded_rng(u64::try_from(subject.len()).unwrap()),
            )
            .unwrap()
    });
    rekey(&vault, 2).unwrap();
    vault.write(&sealed).unwrap();
    vault.sync().unwrap();
    for vault in [vault, opened(&disk, 2).unwrap()] {
        for one in &sealed {
            assert!(vault.unseal(&one.reference()).is_ok(), "{one:?}");
        }
    }
}

/// The claim of `docs/operations/security.md` on the holder of an old key and an older copy: S14.
#[test]
fn an_older_copy_of_the_keys_opens_what_was_sealed_before_and_nothing_that_came_after() {
    let disk = MemoryDisk::new();
    let vault = open(&disk);
    let before = put(&vault, "acme", b"before", 1);
    let older = disk.copy();
    rekey(&vault, 2).unwrap();
    let after = put(&vault, "acme", b"after", 2);
    let thief = disk.copy();
    thief.replace(KEYS, &file(&older, KEYS)).unwrap();
    let thief = opened(&thief, 1).unwrap();
    assert_eq!(thief.unseal(&before).unwrap().as_slice(), b"before");
    assert!(matches!(thief.unseal(&after), Err(VaultError::Damaged { .. })));
}

/// Closes S14: erasing and compacting work as before.
#[test]
fn after_an_exchange_a_subject_is_erased_with_all_its_keys_and_compaction_keeps_what_is_named() {
    let disk = MemoryDisk::new();
    let vault = open(&disk);
    let (gone, kept) = (put(&vault, "gone", b"1", 1), put(&vault, "kept", b"2", 2));
    rekey(&vault, 2).unwrap();
    let again = put(&vault, "gone", b"3", 3);
    vault.erase("gone").unwrap();
    let mut survey = vault.survey().unwrap();
    survey.named.read(kept.to_string().as_bytes());
    assert_eq!(vault.drop_unnamed(&survey).unwrap(), 2);
    for vault in [vault, opened(&disk, 2).unwrap()] {
        assert!(vault.unseal(&gone).is_err() && vault.unseal(&again).is_err());
        assert_eq!(vault.unseal(&kept).unwrap().as_slice(), b"2");
    }
    assert!(opened(&disk, 1).is_err());
}

/// Closes S14: after any refusal of the disk exactly one of both keys opens the vault, and nothing
/// is lost.
#[test]
fn a_disk_that_refuses_at_any_change_leaves_one_key_that_opens_everything() {
    for room in 0..4 {
        let inner = MemoryDisk::new();
        let sealed = put(&open(&inner), "acme", b"4242", 1);
        let disk = FullDisk::new(inner.clone(), room);
        let vault = Vault::open(Arc::new(disk), &master(1)).unwrap();
        let done = rekey(&vault, 2);
        assert_eq!(done.is_err(), vault.is_in_doubt());
        let opening: Vec<Vault> =
            [1, 2].iter().filter_map(|byte| opened(&inner, *byte).ok()).collect();
        assert_eq!(opening.len(), 1, "room for {room} changes");
        assert_eq!(opening[0].unseal(&sealed).unwrap().as_slice(), b"4242");
        assert_eq!(opened(&inner, 2).is_ok(), done.is_ok());
        if done.is_err() {
            let more = vault.write(&[]);
            assert!(matches!(more, Err(VaultError::Poisoned { .. })));
        }
    }
}

/// Closes S14: nothing is changed for a key that the state has or had, or if a data key is damaged.
#[test]
fn a_used_key_and_a_damaged_data_key_are_refused_before_anything_changes() {
    let disk = MemoryDisk::new();
    let vault = open(&disk);
    put(&vault, "acme", b"x", 1);
    let whole = file(&disk, KEYS);
    assert!(matches!(rekey(&vault, 1), Err(VaultError::KeyUsed)));
    assert_eq!(file(&disk, KEYS), whole);
    rekey(&vault, 2).unwrap();
    assert!(matches!(rekey(&vault, 1), Err(VaultError::KeyUsed)));
    assert!(matches!(rekey(&vault, 2), Err(VaultError::KeyUsed)));

    let disk = MemoryDisk::new();
    let wrapped = master(7);
    let stranger = NewKey {
        id: [5; 16],
        nonce: [6; 24],
        subject: "jane".into(),
        key: Zeroizing::new([8; 32]),
    };
    open(&disk);
    let mut damaged = file(&disk, KEYS);
    damaged.extend(frame::frame(&stranger.payload(&Wrapping::new(&wrapped)).unwrap()));
    disk.replace(KEYS, &damaged).unwrap();
    let vault = open(&disk);
    let refused = rekey(&vault, 2).unwrap_err().to_string();
    assert!(refused.contains("jane") && !vault.is_in_doubt(), "{refused}");
    assert_eq!(file(&disk, KEYS), damaged);
}

/// Closes S14: a program that does not know exchanges finds no check that it could trust.
#[test]
fn a_file_of_an_exchanged_key_is_not_taken_for_one_of_before() {
    let disk = MemoryDisk::new();
    rekey(&open(&disk), 2).unwrap();
    let first = Scan::new(&disk, KEYS, 0).unwrap().here().unwrap().unwrap();
    assert_ne!(first[0], 0);
    let text = String::from_utf8_lossy(&file(&disk, KEYS)).into_owned();
    assert!(text.contains("uid 1"), "it names the person");
    for place in (0..first.len()).step_by(3) {
        let mut flipped = first.clone();
        flipped[place] ^= 0x41;
        disk.replace(KEYS, &frame::frame(&flipped)).unwrap();
        assert!(opened(&disk, 2).is_err(), "byte {place}");
    }
}
