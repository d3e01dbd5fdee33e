//! The counts of objects without document equal those of a search.

#![expect(clippy::arithmetic_side_effects, reason = "an overflow fails the test")]

use super::*;

fn key(text: &str) -> Key {
    text.parse().unwrap()
}

fn orphan(is_removal: bool, unmarked: bool, content: u8) -> OrphanObject {
    OrphanObject {
        merchant: key("Merchant/acme"),
        is_removal,
        allowed: false,
        unmarked,
        dependencies: Vec::new(),
        fingerprint: Some(sha256(&[content])),
    }
}

/// Asserts that each count is the one of a search through all objects without document.
fn check(state: &PruneState) {
    let removals = state.orphans.values().filter(|gone| gone.is_removal).count();
    assert_eq!(state.removals, removals);
    let unmarked = state.orphans.iter().filter(|(_, gone)| gone.unmarked);
    assert!(state.marks_due().eq(unmarked.map(|(key, _)| key)));
    let mut contents: BTreeMap<(Kind, Fingerprint), usize> = BTreeMap::new();
    for (key, gone) in &state.orphans {
        *contents.entry((key.kind.clone(), gone.fingerprint)).or_default() += 1;
    }
    assert_eq!(state.contents, contents);
}

/// No document that appears or goes needs a search through the objects without document.
#[test]
fn what_a_search_would_find_is_counted() {
    let mut state = PruneState::default();
    let steps = [
        ("Contact/a", Some(orphan(true, true, 1))),
        ("Contact/b", Some(orphan(true, false, 1))),
        ("Invoice/a", Some(orphan(false, true, 1))),
        ("Contact/a", Some(orphan(true, false, 2))),
        ("Contact/b", Some(orphan(false, false, 1))),
        ("Contact/a", None),
        ("Contact/never", None),
        ("Contact/b", None),
        ("Invoice/a", None),
    ];
    for (name, gone) in steps {
        state.set_orphan(&key(name), gone);
        check(&state);
    }
    assert!(state.contents.is_empty() && state.unmarked.is_empty() && state.removals == 0);
}
