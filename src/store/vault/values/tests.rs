use crate::store::disk::traits::MemoryDisk;
use crate::store::tests::support::{TestDisk, seeded_rng};
use crate::store::vault::key::VaultRefError;
use crate::store::vault::upkeep::ValueSurvey;
use crate::store::vault::values::*;

mod rekeying;
mod rewriting;

fn master(byte: u8) -> MasterKey {
    MasterKey::new([byte; 32])
}

fn open(disk: &MemoryDisk) -> Vault {
    Vault::open(Arc::new(disk.clone()), &master(1)).unwrap()
}

/// Seals, writes and syncs one value.
fn put(vault: &Vault, subject: &str, plain: &[u8], seed: u64) -> VaultRef {
    let sealed = vault.seal(subject, plain, &mut seeded_rng(seed)).unwrap();
    vault.write(std::slice::from_ref(&sealed)).unwrap();
    vault.sync().unwrap();
    sealed.reference()
}

fn file(disk: &MemoryDisk, name: &str) -> Vec<u8> {
    disk.read_at(name, 0, usize::MAX).unwrap()
}

#[test]
fn what_was_sealed_is_unsealed_also_after_reopening() {
    let disk = MemoryDisk::new();
    let vault = open(&disk);
    let first = put(&vault, "acme/jane", b"4242", 1);
    assert_eq!(vault.unseal(&first).unwrap().as_slice(), b"4242");
    let second = put(&vault, "acme/jane", b"", 2);
    let third = put(&vault, "acme/john", &vec![7; (1 << 20) + 9], 3);
    for vault in [vault, open(&disk)] {
        assert_eq!(vault.unseal(&first).unwrap().as_slice(), b"4242");
        assert_eq!(vault.unseal(&second).unwrap().as_slice(), b"");
        assert_eq!(vault.unseal(&third).unwrap().len(), (1 << 20) + 9);
    }
}

#[test]
fn nothing_is_on_disk_or_in_debug_in_the_open() {
    let disk = MemoryDisk::new();
    let vault = open(&disk);
    let sealed = vault.seal("acme", b"4242424242424242", &mut seeded_rng(1)).unwrap();
    assert!(!format!("{sealed:?} {vault:?}").contains("4242424242424242"));
    vault.write(&[sealed]).unwrap();
    for name in ["keys", "data"] {
        assert!(!file(&disk, name).windows(8).any(|window| window == b"42424242"));
    }
}

#[test]
fn another_key_is_refused_at_once() {
    let disk = MemoryDisk::new();
    open(&disk);
    let wrong = Vault::open(Arc::new(disk.clone()), &master(2));
    assert!(matches!(wrong, Err(VaultError::WrongKey)));
    put(&open(&disk), "acme", b"x", 1);
    disk.remove("keys").unwrap();
    let lost = Vault::open(Arc::new(disk), &master(1));
    assert!(matches!(lost, Err(VaultError::KeysLost)));
}

/// The statement of `docs/operations/security.md` about backups: S14.
#[test]
fn a_copy_from_before_an_erasure_still_opens_what_was_erased() {
    let disk = MemoryDisk::new();
    let vault = open(&disk);
    let name = put(&vault, "jane", b"4242", 1);
    let copy = MemoryDisk::new();
    for file_name in ["keys", "data"] {
        copy.replace(file_name, &file(&disk, file_name)).unwrap();
    }
    vault.erase("jane").unwrap();
    assert!(matches!(vault.unseal(&name), Err(VaultError::Erased { .. })));
    assert_eq!(open(&copy).unseal(&name).unwrap().as_slice(), b"4242");
    assert!(Vault::open(Arc::new(copy), &master(2)).is_err(), "not without the key of the state");
}

#[test]
fn an_erased_subject_is_unreadable_and_others_are_not() {
    let disk = MemoryDisk::new();
    let vault = open(&disk);
    // Two values of a new subject, sealed before either is written, get a key each.
    let one = vault.seal("jane", b"one", &mut seeded_rng(1)).unwrap();
    let two = vault.seal("jane", b"two", &mut seeded_rng(2)).unwrap();
    vault.write(&[one.clone(), two.clone()]).unwrap();
    let other = put(&vault, "john", b"other", 3);
    let late = vault.seal("jane", b"late", &mut seeded_rng(4)).unwrap();
    assert_eq!(vault.unseal(&one.reference()).unwrap().as_slice(), b"one");
    vault.erase("jane").unwrap();
    vault.erase("nobody").unwrap();
    vault.write(std::slice::from_ref(&late)).unwrap();
    let again = put(&vault, "jane", b"again", 5);
    for vault in [vault, open(&disk)] {
        for sealed in [&one, &two, &late] {
            let gone = vault.unseal(&sealed.reference());
            assert!(matches!(gone, Err(VaultError::Erased { .. })));
        }
        assert_eq!(vault.unseal(&other).unwrap().as_slice(), b"other");
        assert_eq!(vault.unseal(&again).unwrap().as_slice(), b"again");
    }
    assert_eq!(file(&disk, "keys").windows(4).filter(|window| window == b"jane").count(), 1);
}

#[test]
fn a_torn_write_hides_nothing_that_was_written_before_or_after() {
    let whole = MemoryDisk::new();
    let vault = open(&whole);
    let before = put(&vault, "jane", b"before", 1);
    let lengths = ["keys", "data"].map(|name| whole.len(name).unwrap());
    let torn = put(&vault, "john", b"torn", 2);
    for (name, start) in ["keys", "data"].into_iter().zip(lengths) {
        for kept in start..whole.len(name).unwrap() {
            let disk = whole.copy();
            disk.cut(name, kept).unwrap();
            let after = put(&open(&disk), "jill", b"after", 3);
            let vault = open(&disk);
            assert_eq!(vault.unseal(&before).unwrap().as_slice(), b"before");
            assert_eq!(vault.unseal(&after).unwrap().as_slice(), b"after");
            let lost = vault.unseal(&torn).unwrap_err();
            assert!(matches!(lost, VaultError::Missing { .. } | VaultError::Damaged { .. }));
        }
    }
}

#[test]
fn a_value_is_bound_to_its_name_and_subject() {
    let disk = MemoryDisk::new();
    let vault = open(&disk);
    let one = vault.seal("jane", b"one", &mut seeded_rng(1)).unwrap();
    let mut renamed = one.clone();
    renamed.reference = VaultRef([9; 16]);
    renamed.payload[..16].copy_from_slice(&[9; 16]);
    let mut moved = one.clone();
    moved.reference = VaultRef([8; 16]);
    let at = moved.payload.windows(4).position(|window| window == b"jane").unwrap();
    moved.payload[at..at + 4].copy_from_slice(b"joan");
    vault.write(&[one, renamed, moved]).unwrap();
    for reference in [VaultRef([9; 16]), VaultRef([8; 16])] {
        let refused = vault.unseal(&reference).unwrap_err();
        assert!(matches!(refused, VaultError::Damaged { .. } | VaultError::Missing { .. }));
    }
}

#[test]
fn after_a_failed_sync_nothing_is_written() {
    let disk = TestDisk::default();
    let vault = Vault::open(Arc::new(disk.clone()), &master(1)).unwrap();
    let sealed = vault.seal("jane", b"x", &mut seeded_rng(1)).unwrap();
    vault.write(std::slice::from_ref(&sealed)).unwrap();
    disk.break_syncs(true);
    assert!(matches!(vault.sync(), Err(VaultError::Io { .. })));
    disk.break_syncs(false);
    assert!(matches!(vault.sync(), Err(VaultError::Poisoned { .. })));
    assert!(matches!(vault.write(&[sealed]), Err(VaultError::Poisoned { .. })));
}

#[test]
fn the_same_seed_seals_the_same_bytes() {
    let seal = || open(&MemoryDisk::new()).seal("jane", b"x", &mut seeded_rng(7)).unwrap();
    let payloads = || {
        let sealed = seal();
        (sealed.payload, sealed.new_key.unwrap().payload(&Wrapping::new(&master(1))))
    };
    assert_eq!(payloads(), payloads());
}

#[test]
fn a_value_that_is_too_long_is_refused() {
    let vault = open(&MemoryDisk::new());
    let long = "x".repeat(SUBJECT_BYTES_MAX + 1);
    assert!(matches!(vault.seal(&long, b"", &mut seeded_rng(1)), Err(VaultError::TooLarge { .. })));
    let long = vec![0; BLOB_BYTES_MAX + 1];
    assert!(matches!(
        vault.seal("jane", &long, &mut seeded_rng(1)),
        Err(VaultError::TooLarge { .. })
    ));
}

#[test]
fn a_reference_is_its_hex_digits() {
    let reference = VaultRef([0xab; 16]);
    let text = serde_json::to_string(&reference).unwrap();
    assert_eq!(text, format!("\"{}\"", "ab".repeat(16)));
    assert_eq!(serde_json::from_str::<VaultRef>(&text).unwrap(), reference);
    assert_eq!("abc".parse::<VaultRef>(), Err(VaultRefError));
    assert_eq!(format!("{reference:?}"), format!("VaultRef({})", "ab".repeat(16)));
}

#[test]
fn who_has_nothing_sealed_is_erased_without_a_write() {
    let disk = TestDisk::default();
    let vault = Vault::open(Arc::new(disk.clone()), &master(1)).unwrap();
    put(&vault, "jane", b"secret", 1);
    let before = disk.syncs();
    vault.erase("nobody").unwrap();
    assert_eq!(disk.syncs(), before);
    vault.erase("jane").unwrap();
    assert_ne!(file(&disk.inner, "keys"), Vec::<u8>::new());
}

#[test]
fn a_value_within_a_record_opens_like_one_of_the_vault_and_is_erased_with_them() {
    let disk = MemoryDisk::new();
    let vault = open(&disk);
    let fresh = vault.seal("acme", b"first", &mut seeded_rng(1)).unwrap();
    assert_eq!(fresh.inline_text(), None, "the key of a new subject has to be on disk first");
    let named = put(&vault, "acme", b"first", 1).to_string();
    let text =
        vault.seal("acme", b"4242424242424242", &mut seeded_rng(2)).unwrap().inline_text().unwrap();
    assert!(!text.contains("4242") && text.len() < 200, "{text}");
    for vault in [&vault, &open(&disk)] {
        assert_eq!(vault.unseal_text(&text).unwrap().as_slice(), b"4242424242424242");
        assert_eq!(vault.unseal_text(&named).unwrap().as_slice(), b"first");
    }
    let turned = text.replace(&text[60..64], "AAAA");
    for damaged in ["", "sealed:", "sealed:%", "nothing", &turned] {
        assert!(matches!(vault.unseal_text(damaged), Err(VaultError::Damaged { .. })), "{damaged}");
    }
    vault.erase("acme").unwrap();
    assert!(matches!(vault.unseal_text(&text), Err(VaultError::Erased { .. })));
}

#[test]
fn a_long_value_is_kept_in_the_vault() {
    let vault = open(&MemoryDisk::new());
    put(&vault, "acme", b"", 1);
    let sealed = |bytes| vault.seal("acme", &vec![7; bytes], &mut seeded_rng(2)).unwrap();
    assert!(sealed(16 << 10).inline_text().is_none());
    assert!(sealed(15 << 10).inline_text().is_some());
}
