use std::fs;
use std::sync::Arc;

use rand_core::Rng;

use super::*;
use crate::store::index::buffered::BufferedIndex;
use crate::store::index::paths::PathIndex;
use crate::store::index::sled::{SledIndex, VALUE_BYTES_MAX};

/// The contract of every index.
fn conforms(index: &dyn Index) {
    a_batch_is_seen_as_a_whole(index);
    a_scan_is_ordered_and_stays_under_its_prefix(index);
    a_scan_goes_on_behind_a_key(index);
    long_values_come_back_whole_and_leave_nothing(index);
    a_key_that_is_too_long_refuses_the_batch(index);
    index.flush().unwrap();
}

fn apply(index: &dyn Index, changes: &[(&str, Option<&str>)]) {
    let mut batch = Batch::new();
    for (key, change) in changes {
        match change {
            Some(value) => batch.put(*key, *value),
            None => batch.remove(*key),
        }
    }
    index.apply(batch).unwrap();
}

fn keys(entries: Vec<KeyValue>) -> Vec<String> {
    entries.into_iter().map(|(key, _)| String::from_utf8(key).unwrap()).collect()
}

fn a_batch_is_seen_as_a_whole(index: &dyn Index) {
    apply(index, &[("k/1", Some("one")), ("k/2", Some("two"))]);
    let mut batch = Batch::new();
    batch.put("k/3", "three");
    batch.put("k/1", "gone");
    batch.remove("k/1");
    assert_eq!(batch.len(), 2);
    assert_eq!(batch.get(index, b"k/1").unwrap(), None);
    assert_eq!(batch.get(index, b"k/2").unwrap().unwrap(), b"two");
    let seen = |key: &[u8]| {
        let mut seen = None;
        batch.with_value(index, key, &mut |value| seen = Some(value.to_vec())).unwrap();
        seen
    };
    assert_eq!(seen(b"k/1"), None);
    assert_eq!(seen(b"k/2").unwrap(), b"two");
    assert_eq!(seen(b"k/3").unwrap(), b"three");
    assert_eq!(batch.changes_under(b"k/").count(), 2);
    assert_eq!(batch.changes_under(b"k/3").count(), 1);
    assert!(batch.changes_key(b"k/1") && !batch.changes_key(b"k/2"));
    assert_eq!(keys(batch.scan_from(index, b"k/", None, usize::MAX).unwrap()), ["k/2", "k/3"]);
    assert_eq!(index.get(b"k/1").unwrap().unwrap(), b"one");
    index.apply(batch).unwrap();
    assert_eq!(index.get(b"k/1").unwrap(), None);
    assert_eq!(index.get(b"k/3").unwrap().unwrap(), b"three");
}

fn a_scan_is_ordered_and_stays_under_its_prefix(index: &dyn Index) {
    apply(index, &[("s/b", Some("")), ("s/a", Some("x")), ("s0", Some("")), ("s", Some(""))]);
    assert_eq!(keys(index.scan(b"s/").unwrap()), ["s/a", "s/b"]);
    assert_eq!(index.scan(b"nothing").unwrap(), []);
    assert_eq!(keys(index.scan(b"").unwrap()), ["k/2", "k/3", "s", "s/a", "s/b", "s0"]);
    let mut last = Batch::new();
    last.put([0xff, 0xff], "end");
    index.apply(last).unwrap();
    assert_eq!(index.scan(&[0xff]).unwrap().len(), 1);
}

fn a_scan_goes_on_behind_a_key(index: &dyn Index) {
    let page = |after: Option<&[u8]>, limit| keys(index.scan_from(b"s", after, limit).unwrap());
    assert_eq!(page(None, 2), ["s", "s/a"]);
    assert_eq!(page(Some(b"s/a"), 2), ["s/b", "s0"]);
    assert_eq!(page(Some(b"s0"), 2), [""; 0]);
    assert_eq!(page(Some(b"a"), 1), ["s"]);
    assert_eq!(page(Some(b"z"), 1), [""; 0]);
    assert_eq!(page(None, 0), [""; 0]);
}

fn long_values_come_back_whole_and_leave_nothing(index: &dyn Index) {
    let lengths = [VALUE_BYTES_MAX, VALUE_BYTES_MAX + 1, 100_000, 12_288, 9_000, 1];
    for (step, length) in lengths.into_iter().enumerate() {
        let value: Vec<u8> = (0..=255).cycle().skip(step).take(length).collect();
        let mut batch = Batch::new();
        batch.put("long", value.clone());
        batch.put("long\0", "neighbour");
        index.apply(batch).unwrap();
        assert_eq!(index.get(b"long").unwrap().unwrap(), value);
        assert_eq!(index.scan(b"long").unwrap()[0].1, value);
    }
    apply(index, &[("long", None), ("long\0", None)]);
    assert_eq!(index.scan(b"long").unwrap(), []);
}

fn a_key_that_is_too_long_refuses_the_batch(index: &dyn Index) {
    let mut batch = Batch::new();
    batch.put("fine", "");
    batch.put(vec![b'x'; KEY_BYTES_MAX + 1], "");
    assert!(matches!(index.apply(batch), Err(IndexError::KeyTooLong { .. })));
    assert_eq!(index.get(b"fine").unwrap(), None);
}

#[test]
fn an_index_in_memory_keeps_the_contract() {
    conforms(&MemoryIndex::new());
}

#[test]
fn an_index_of_paths_keeps_the_contract() {
    conforms(&PathIndex::new(&[]));
    conforms(&PathIndex::new(&["k/", "long"]));
}

#[test]
fn an_index_whose_changes_wait_keeps_the_contract() {
    conforms(&BufferedIndex::new(Arc::new(MemoryIndex::new())));
}

#[test]
fn changes_reach_the_index_behind_together_and_in_order() {
    let behind = Arc::new(MemoryIndex::new());
    let index = BufferedIndex::new(behind.clone());
    apply(&index, &[("a", Some("1")), ("b", Some("1"))]);
    apply(&index, &[("a", Some("2")), ("b", None)]);
    assert_eq!(behind.scan(b"").unwrap(), []);
    assert_eq!(keys(index.scan(b"").unwrap()), ["a"]);
    index.flush().unwrap();
    assert_eq!(behind.scan(b"").unwrap(), [(b"a".to_vec(), b"2".to_vec())]);
    for number in 0..10_000_u32 {
        apply(&index, &[(&number.to_string(), Some("x"))]);
    }
    let there = behind.scan(b"").unwrap().len();
    assert!((9_700..10_000).contains(&there), "{there}: a few hundred wait, however many come");
    assert_eq!(index.scan(b"").unwrap().len(), 10_001);
}

#[test]
fn changes_that_wait_are_seen_as_if_they_were_behind() {
    let (plain, index) = (MemoryIndex::new(), BufferedIndex::new(Arc::new(MemoryIndex::new())));
    let mut rng = crate::store::tests::support::seeded_rng(7);
    for round in 0..3000 {
        let mut below = |end: u32| rng.next_u32().checked_rem(end).unwrap();
        let (key, set) = (format!("k/{}", below(40)), below(3) > 0);
        let change = set.then(|| round.to_string());
        let both: [&dyn Index; 2] = [&plain, &index];
        for index in both {
            apply(index, &[(&key, change.as_deref())]);
        }
        if below(50) == 0 {
            index.flush().unwrap();
        }
        let after = format!("k/{}", below(40));
        let limit = usize::try_from(below(12)).unwrap();
        let scan = |index: &dyn Index| index.scan_from(b"k/", Some(after.as_bytes()), limit);
        assert_eq!(scan(&index).unwrap(), scan(&plain).unwrap(), "round {round}");
        for key in [key, format!("k/{}", below(40))] {
            let key = key.as_bytes();
            assert_eq!(index.get(key).unwrap(), plain.get(key).unwrap(), "round {round}");
            assert_eq!(seen(&index, key), seen(&plain, key), "round {round}");
        }
    }
}

fn seen(index: &dyn Index, key: &[u8]) -> Option<Vec<u8>> {
    let mut seen = None;
    index.with_value(key, &mut |value| seen = Some(value.to_vec())).unwrap();
    seen
}

#[test]
fn an_index_over_sled_keeps_the_contract() {
    let dir = tempfile::tempdir().unwrap();
    conforms(&SledIndex::open(&dir.path().join("sled")).unwrap());
    let behind = SledIndex::open(&dir.path().join("behind")).unwrap();
    conforms(&BufferedIndex::new(Arc::new(behind)));
}

#[test]
fn an_index_over_sled_is_found_again() {
    let dir = tempfile::tempdir().unwrap();
    let long = "x".repeat(50_000);
    let index = SledIndex::open(dir.path()).unwrap();
    apply(&index, &[("a", Some("1")), ("b", Some(&long))]);
    index.flush().unwrap();
    drop(index);
    let index = SledIndex::open(dir.path()).unwrap();
    assert_eq!(index.get(b"a").unwrap().unwrap(), b"1");
    assert_eq!(index.get(b"b").unwrap().unwrap(), long.as_bytes());
}

#[test]
fn a_damaged_folder_says_so_and_can_be_moved_aside() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sled");
    drop(SledIndex::open(&path).unwrap());
    fs::write(path.join("conf"), b"this is no configuration").unwrap();
    assert!(matches!(SledIndex::open(&path), Err(IndexError::Corrupt { .. })));
    fs::rename(&path, dir.path().join("sled.damaged")).unwrap();
    assert_eq!(SledIndex::open(&path).unwrap().scan(b"").unwrap(), []);
}

#[test]
fn a_folder_that_is_no_folder_is_an_error_of_the_disk() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    fs::write(&path, b"").unwrap();
    assert!(matches!(SledIndex::open(&path), Err(IndexError::Io { .. })));
}
