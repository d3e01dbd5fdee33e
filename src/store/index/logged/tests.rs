use std::sync::Arc;

use super::*;

fn open(dir: &Path) -> IndexResult<LoggedIndex> {
    LoggedIndex::open(dir, &["o/"], || Ok(vec![(b"o/first".to_vec(), b"1".to_vec())]))
}

fn put(index: &LoggedIndex, key: &str, value: &str) {
    let mut batch = Batch::new();
    batch.put(key, value);
    index.apply(batch).unwrap();
}

fn values(index: &LoggedIndex) -> Vec<String> {
    let entries = index.scan(b"").unwrap().into_iter();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    entries.map(|(key, value)| format!("{}={}", text(key), text(value))).collect()
}

/// Ends as a killed process does: what waits is not written.
fn kill(index: LoggedIndex) {
    index.waiting.lock().clear();
    drop(index);
}

#[test]
fn what_was_flushed_is_found_again() {
    let dir = tempfile::tempdir().unwrap();
    let index = open(dir.path()).unwrap();
    assert_eq!(values(&index), ["o/first=1"]);
    put(&index, "a/b", "2");
    put(&index, "gone", "3");
    let mut batch = Batch::new();
    batch.remove("gone");
    batch.put("empty", "");
    index.apply(batch).unwrap();
    index.flush().unwrap();
    put(&index, "a/b", "not flushed");
    kill(index);
    assert_eq!(values(&open(dir.path()).unwrap()), ["a/b=2", "empty=", "o/first=1"]);
}

#[test]
fn a_clean_end_writes_what_waits() {
    let dir = tempfile::tempdir().unwrap();
    put(&open(dir.path()).unwrap(), "a", "1");
    assert_eq!(values(&open(dir.path()).unwrap()), ["a=1", "o/first=1"]);
}

#[test]
fn a_second_process_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let _first = open(dir.path()).unwrap();
    let refused = open(dir.path()).unwrap_err().to_string();
    assert!(refused.ends_with("another process uses it"), "{refused}");
}

#[test]
fn an_incomplete_last_record_is_cut_off_wherever_it_ends() {
    let dir = tempfile::tempdir().unwrap();
    let index = open(dir.path()).unwrap();
    put(&index, "a", "1");
    index.flush().unwrap();
    let whole = fs::metadata(dir.path().join(LOG)).unwrap().len();
    put(&index, "b", "2");
    drop(index);
    let bytes = fs::read(dir.path().join(LOG)).unwrap();
    for length in usize::try_from(whole).unwrap()..bytes.len() {
        fs::write(dir.path().join(LOG), bytes.get(..length).unwrap()).unwrap();
        let index = open(dir.path()).unwrap();
        assert_eq!(values(&index), ["a=1", "o/first=1"], "{length} bytes");
        put(&index, "c", "3");
        drop(index);
        assert_eq!(values(&open(dir.path()).unwrap()), ["a=1", "c=3", "o/first=1"]);
    }
}

#[test]
fn a_changed_byte_is_damage_and_never_another_value() {
    let dir = tempfile::tempdir().unwrap();
    let index = open(dir.path()).unwrap();
    put(&index, "a", "1");
    put(&index, "b", "2");
    drop(index);
    let bytes = fs::read(dir.path().join(LOG)).unwrap();
    fs::write(dir.path().join(LOG), &bytes[..7]).unwrap();
    assert!(matches!(open(dir.path()), Err(IndexError::DamagedLog { at: 0, .. })));
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        *changed.get_mut(at).unwrap() ^= 0x40;
        fs::write(dir.path().join(LOG), changed).unwrap();
        let opened = open(dir.path());
        assert!(matches!(opened, Err(IndexError::DamagedLog { .. })), "byte {at}: {opened:?}");
    }
}

#[test]
fn a_long_log_is_replaced_by_its_entries() {
    let dir = tempfile::tempdir().unwrap();
    let index = open(dir.path()).unwrap();
    let value = "x".repeat(1 << 20);
    for round in 0..78 {
        put(&index, &format!("k/{}", round % 3), &value);
        index.flush().unwrap();
    }
    let length = fs::metadata(dir.path().join(LOG)).unwrap().len();
    assert!((3 << 20..12 << 20).contains(&length), "{length}: compacted once, and written on");
    let before = values(&index);
    put(&index, "last", "1");
    drop(index);
    let index = open(dir.path()).unwrap();
    assert_eq!(values(&index).len(), before.len() + 1);
    assert_eq!(index.get(b"k/2").unwrap().unwrap(), value.as_bytes());
    assert!(!dir.path().join(NEXT_LOG).exists());
}

/// Changes while others are flushed and compacted: none is lost, and the last one of a key counts.
#[test]
fn changes_of_many_threads_are_all_there() {
    let dir = tempfile::tempdir().unwrap();
    let index = Arc::new(open(dir.path()).unwrap());
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let index = index.clone();
            scope.spawn(move || {
                for round in 0..200 {
                    put(&index, &format!("t/{thread}"), &round.to_string());
                    put(&index, &format!("t/{thread}/{round}"), "x");
                    index.flush().unwrap();
                }
            });
        }
        scope.spawn(|| (0..20).for_each(|_| index.compact(&mut index.log.lock()).unwrap()));
    });
    let expect = values(&index);
    kill(Arc::into_inner(index).unwrap());
    assert_eq!(values(&open(dir.path()).unwrap()), expect);
    assert_eq!(expect.len(), 1 + 4 + 800);
}

/// Closes a loss: what a failed write left at the end of the file is never in front of a later record.
#[test]
fn the_rest_of_a_failed_write_is_written_over() {
    let dir = tempfile::tempdir().unwrap();
    let index = open(dir.path()).unwrap();
    put(&index, "a", "1");
    let bytes = index.log.lock().bytes;
    let half = index.waiting.lock()[..5].to_vec();
    index.log.lock().file.write_all_at(&half, bytes).unwrap();
    put(&index, "b", "2");
    index.flush().unwrap();
    kill(index);
    assert_eq!(values(&open(dir.path()).unwrap()), ["a=1", "b=2", "o/first=1"]);
}

/// A full disk refuses the flush; what waited is written once there is space.
#[test]
fn what_could_not_be_written_is_written_later() {
    let dir = tempfile::tempdir().unwrap();
    let index = open(dir.path()).unwrap();
    put(&index, "a", "1");
    // Takes no byte.
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let file = std::mem::replace(&mut index.log.lock().file, full);
    assert!(index.flush().is_err());
    put(&index, "b", "2");
    assert!(index.flush().is_err());
    let long = "x".repeat(WAITING_BYTES_MAX);
    put(&index, "long", &long);
    let mut batch = Batch::new();
    batch.put("refused", "");
    assert!(index.apply(batch).is_err());
    assert_eq!(index.get(b"refused").unwrap(), None, "a refused change changes nothing");
    index.log.lock().file = file;
    index.flush().unwrap();
    kill(index);
    let long = format!("long={long}");
    assert_eq!(values(&open(dir.path()).unwrap()), ["a=1", "b=2", &*long, "o/first=1"]);
}
