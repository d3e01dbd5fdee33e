use rand_core::Rng;

use super::*;
use crate::store::index::ordered::MemoryIndex;
use crate::store::tests::support::seeded_rng;

/// Returns a key of one to four parts: words, numbers, and text that only looks like a number.
fn key(below: &mut impl FnMut(u32) -> u32) -> String {
    let mut parts = Vec::new();
    for _ in 0..=below(4) {
        parts.push(match below(8) {
            0..3 => format!("{:016x}", below(6)),
            3 => format!("{:016X}", 0xabc_u64.wrapping_add(below(2).into())),
            4 => format!("{:015x}", below(3)),
            5 => String::new(),
            _ => ["o", "x", "list", "o-b"][usize::try_from(below(4)).unwrap()].to_owned(),
        });
    }
    parts.join("/")
}

/// Every key, prefix and page is that of one ordered map, whatever the keys are.
#[test]
fn it_answers_as_one_ordered_map_does() {
    let mut rng = seeded_rng(11);
    let mut below = |end: u32| rng.next_u32().checked_rem(end).unwrap();
    let (plain, index) = (MemoryIndex::new(), PathIndex::new(&["o/", "list"]));
    for round in 0..20_000 {
        let mut batch = Batch::new();
        for number in 0..=below(3) {
            match below(3) {
                0 => batch.remove(key(&mut below)),
                _ => batch.put(key(&mut below), format!("{round}.{number}")),
            }
        }
        plain.apply(batch.clone()).unwrap();
        index.apply(batch).unwrap();
        let (asked, mut prefix) = (key(&mut below), key(&mut below));
        assert_eq!(index.get(asked.as_bytes()).unwrap(), plain.get(asked.as_bytes()).unwrap());
        prefix.truncate(usize::try_from(below(24)).unwrap());
        let after = (below(2) == 0).then(|| key(&mut below));
        let after = after.as_deref().map(str::as_bytes);
        let limit = usize::try_from(below(9)).unwrap();
        let page = |index: &dyn Index| index.scan_from(prefix.as_bytes(), after, limit).unwrap();
        assert_eq!(page(&index), page(&plain), "{prefix:?} behind {after:?}, round {round}");
        let count = |index: &dyn Index| index.count(prefix.as_bytes()).unwrap();
        assert_eq!(count(&index), count(&plain), "{prefix:?}, round {round}");
    }
    assert!(plain.scan(b"").unwrap().len() > 500, "most keys are there");
    assert_eq!(index.scan(b"").unwrap(), plain.scan(b"").unwrap());
    let mut all = Vec::new();
    index.each(&mut |key, value| all.push((key.to_vec(), value.to_vec())));
    all.sort_unstable();
    assert_eq!(all, plain.scan(b"").unwrap());
}

#[test]
fn an_empty_folder_is_forgotten() {
    let index = PathIndex::new(&[]);
    let mut batch = Batch::new();
    batch.put("due/0000000000000001/0000000000000002", "x");
    index.apply(batch).unwrap();
    assert_eq!(index.folders.read().all.len(), 1);
    let mut batch = Batch::new();
    batch.remove("due/0000000000000001/0000000000000002");
    index.apply(batch).unwrap();
    let folders = index.folders.read();
    assert_eq!((folders.all.len(), folders.in_order.len()), (0, 0));
}
