//! Properties of the entries' keys: two things never share one.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;

use crate::base::id::{IntentId, Key, Kind, Name};
use crate::model::events::hook_run::{ActionRequestId, Channel, Scheduled};
use crate::model::operator::WebhookAddress;
use crate::model::state::observed::Observed;
use crate::store::index::ordered::{Batch, Index as _};
use crate::store::projection::operator::{ROTATIONS, absence_key, rotation_name};
use crate::store::read_model::hooks::*;
use crate::store::read_model::journal_refs::*;
use crate::store::read_model::model::*;
use crate::store::read_model::resources::*;

/// Texts of few characters, separators of keys among them: ids of the service may be any text.
fn id() -> impl Strategy<Value = String> {
    "[a/\0.]{1,4}"
}

/// Names of few letters.
fn name() -> impl Strategy<Value = Name> {
    "[a0]([a0.-]{0,3}[a0])?".prop_map(|name| name.parse().unwrap())
}

fn key() -> impl Strategy<Value = Key> {
    (name(), name())
        .prop_map(|(namespace, name)| Key::new(Kind::new("Merchant"), &namespace, &name))
}

/// Every thing that has an entry, built of these parts: a label, and the key of the entry.
fn entries_of(key: &Key, id: &str, name: &Name, number: u64) -> Vec<(String, Vec<u8>)> {
    let request =
        ActionRequestId { merchant: key.clone(), event: id.to_owned(), name: name.clone() };
    let script = name.as_str();
    let intent = IntentId::new(number);
    let page = u32::try_from(number).unwrap();
    let digest = crate::base::hash::sha256(id.as_bytes());
    let of_key = |what: &str| format!("{what} {key}");
    let of_id = |what: &str| format!("{what} {key} {id:?}");
    let of_number = |what: &str| format!("{what} {key} {number}");
    let of_request = |what: &str| format!("{what} {request:?}");
    vec![
        (of_key("observed"), OBSERVED.key(key)),
        (of_key("open"), OPEN_BY_KEY.key(key)),
        (of_key("suspended"), SUSPENDED.key(key)),
        (of_key("released"), RELEASED.key(key)),
        (of_key("trail"), SEQUENCES.key(key)),
        (of_key("ledger"), EVENT_LEDGERS.key(key)),
        (of_key("newest page"), EVENT_PAGES.key(key)),
        (of_key("to run"), EVENTS_TO_RUN.key(key)),
        (of_key("depth"), HOOK_DEPTHS.key(key)),
        (of_key("doubt"), DOUBTED_ACTIONS.key(key)),
        (of_key("sure"), NEW_EVENTS.key(key)),
        (of_key("rotation"), ROTATIONS.key(&rotation_name(&WebhookAddress::Merchant(key.clone())))),
        (
            "rotation of the partner".to_owned(),
            ROTATIONS.key(&rotation_name(&WebhookAddress::Partner)),
        ),
        (of_id("event"), EVENTS.key((key, id))),
        (of_id("forged"), EVENTS_FORGED.key((key, id))),
        (of_id("garbled"), EVENTS_MALFORMED.key((key, &digest))),
        (of_id("object"), OBJECTS.key((key, id))),
        (of_id("remote"), REMOTE.key((id, key))),
        (of_number("number"), EVENT_NUMBERS.key((key, number))),
        (of_number("waiting"), EVENTS_WAITING.key((key, number))),
        (of_number("page"), SEQUENCE_PAGES.key((key, page))),
        (of_number("undone"), FAILED_ACTIONS.key((key, number))),
        (of_request("request"), ACTION_REQUESTS.key(&request)),
        (of_request("granted"), ACTION_RESULTS.key(&request)),
        (of_request("telling"), NOTIFICATIONS_SENDING.key(&request)),
        (format!("failed {key} {id:?} {script}"), HOOKS_FAILED.key(((key, id), script))),
        (format!("record {key} {id:?} {number}"), EVENT_RECORDS.key(((key, id), number))),
        (format!("cursor {key} {script}"), HOOK_CURSORS.key((key, script))),
        (format!("kept {script} {id:?}"), STORED_VALUES.key((script, id))),
        (format!("mark {id:?}"), MARKS.key(id)),
        (format!("plan {id:?}"), PLANS.key(id)),
        (format!("disowned {id:?}"), DISOWNED.key(id)),
        (format!("unknown object {id:?}"), UNKNOWN_OBJECTS.key(id)),
        (format!("looked {script} {id:?}"), absence_key(script, id)),
        (format!("intent {number}"), INTENTS.key(intent)),
        (format!("intent position {number}"), INTENT_POSITIONS.key(intent)),
        (format!("orphan {number}"), ORPHANS.key(intent)),
        (format!("inbox {id:?}"), PARTNER_WEBHOOKS.key(&digest)),
    ]
}

/// The journal is folded into these keys on every disk: a changed byte loses what lies there.
#[test]
fn every_key_has_its_bytes() {
    let key: Key = "Merchant/acme".parse().unwrap();
    let (merchant, name) = ("Merchant/default/acme", "now".parse::<Name>().unwrap());
    let of_key = |prefix: &str| format!("{prefix}{merchant}").into_bytes();
    let below = |prefix: &str, rest: &[u8]| [of_key(prefix), vec![0], rest.to_vec()].concat();
    let number = [0, 0, 0, 0, 0, 0, 1, 2];
    let numbered = |prefix: &str| [prefix.as_bytes(), &number].concat();
    let (intent, digest) = (IntentId::new(258), crate::base::hash::sha256(b""));
    let request = ActionRequestId { merchant: key.clone(), event: "e\0/".to_owned(), name };
    let rotated = WebhookAddress::Merchant(key.clone());
    let at = chrono::DateTime::UNIX_EPOCH;
    let scheduled = Scheduled { at, id: request.clone(), channel: Channel::Internal };
    let scheduled_at_epoch =
        [b"w/a/", &[128, 0, 0, 0, 0, 0, 0, 0][..], &below("", b"e\0/\0now")].concat();
    let bytes = |text: &str| text.as_bytes().to_vec();
    for (made, expected) in [
        (OBSERVED.key(&key), of_key("o/")),
        (OPEN_BY_KEY.key(&key), of_key("k/")),
        (SUSPENDED.key(&key), of_key("z/")),
        (RELEASED.key(&key), of_key("e/r/")),
        (SEQUENCES.key(&key), of_key("t/")),
        (EVENT_LEDGERS.key(&key), of_key("v/l/")),
        (EVENT_PAGES.key(&key), of_key("v/p/")),
        (EVENTS_TO_RUN.key(&key), of_key("w/r/")),
        (HOOK_DEPTHS.key(&key), of_key("w/c/")),
        (DOUBTED_ACTIONS.key(&key), of_key("w/u/")),
        (NEW_EVENTS.key(&key), of_key("w/s/")),
        (ROTATIONS.key(&rotation_name(&rotated)), of_key("v/t/")),
        (ROTATIONS.key(&rotation_name(&WebhookAddress::Partner)), bytes("v/t/partner")),
        (EVENTS.key((&key, "e")), below("v/e/", b"e")),
        (EVENTS_FORGED.key((&key, "e")), below("v/f/", b"e")),
        (EVENTS_UNMATCHED.key((&key, "e")), below("v/h/", b"e")),
        (EVENTS_MALFORMED.key((&key, &digest)), below("v/g/", digest.as_bytes())),
        (EVENTS_MALFORMED.under(&key).prefix().to_vec(), below("v/g/", b"")),
        (OBJECTS.key((&key, "e")), below("v/o/", b"e")),
        (EVENT_NUMBERS.key((&key, 258)), below("v/n/", &number)),
        (EVENT_NUMBERS.under(&key).prefix().to_vec(), below("v/n/", b"")),
        (EVENTS_WAITING.key((&key, 258)), below("v/w/", &number)),
        (SEQUENCE_PAGES.key((&key, 258)), below("g/", &[0, 0, 1, 2])),
        (FAILED_ACTIONS.key((&key, 258)), below("w/x/", &number)),
        (FAILED_ACTIONS.under(&key).prefix().to_vec(), below("w/x/", b"")),
        (FAILED_COUNTS.key((&key, "s")), below("w/e/", b"s")),
        (HOOK_CURSORS.key((&key, "s")), below("w/o/", b"s")),
        (HOOK_CURSORS.under(&key).prefix().to_vec(), below("w/o/", b"")),
        (ACTION_REQUESTS.key(&request), below("w/p/", b"e\0/\0now")),
        (ACTION_REQUESTS.of_event(&key, "e").prefix().to_vec(), below("w/p/", b"e\0")),
        (ACTION_RESULTS.key(&request), below("w/d/", b"e\0/\0now")),
        (ACTION_RESULTS.of_event(&key, "e").prefix().to_vec(), below("w/d/", b"e\0")),
        (NOTIFICATIONS_SENDING.key(&request), below("w/t/", b"e\0/\0now")),
        (HOOKS_FAILED.key(((&key, "e"), "s")), below("w/f/", b"e\0s")),
        (HOOKS_FAILED.under((&key, "e")).prefix().to_vec(), below("w/f/", b"e\0")),
        (HOOKS_AT_MOST.key(((&key, "s"), "k")), below("w/m/", b"s\0k")),
        (schedule_key(&scheduled), scheduled_at_epoch),
        (STORED_VALUES.key(("s", "k")), bytes("w/k/s\0k")),
        (STORED_VALUES.under("s").prefix().to_vec(), bytes("w/k/s\0")),
        (STORED_SIZES.key("s"), bytes("w/z/s")),
        (ROSTER.key("s"), bytes("w/n/s")),
        (REMOTE.key(("a\0b", &key)), bytes("j/a\0b\0Merchant/default/acme")),
        (MARKS.key("m"), bytes("m/m")),
        (PLANS.key("t"), bytes("y/t")),
        (DISOWNED.key("d"), bytes("d/d")),
        (UNKNOWN_OBJECTS.key("u"), bytes("h/u")),
        (absence_key("effect", "source"), bytes("e/l/effect/source")),
        (PUBLIC_KEYS.key("m_1"), bytes("p/m_1")),
        (INTENTS.key(intent), numbered("i/")),
        (INTENT_POSITIONS.key(intent), numbered("q/")),
        (ORPHANS.key(intent), numbered("r/")),
        (PARTNER_WEBHOOKS.key(&digest), [b"n/", &digest.as_bytes()[..]].concat()),
    ] {
        assert_eq!(made, expected, "{}", String::from_utf8_lossy(&expected));
    }
}

proptest! {
    /// Closes S3 for the index: two things never share an entry, with any characters in names and
    /// ids.
    #[test]
    fn two_things_never_share_an_entry(parts in vec((key(), id(), name(), 0_u64..3), 2..8)) {
        let mut seen: BTreeMap<Vec<u8>, String> = BTreeMap::new();
        for (key, id, name, number) in &parts {
            for (what, entry) in entries_of(key, id, name, *number) {
                let before = seen.insert(entry, what.clone());
                prop_assert_eq!(before.as_ref().unwrap_or(&what), &what);
            }
        }
    }

    /// Closes S3 for names of hooks' actions: two actions never share one.
    #[test]
    fn two_actions_never_share_a_name(parts in vec((key(), id(), name()), 2..6)) {
        let wish = |(merchant, event, name): &(Key, String, Name)| {
            ActionRequestId { merchant: merchant.clone(), event: event.clone(), name: name.clone() }
        };
        for one in &parts {
            for other in parts.iter().filter(|other| *other != one) {
                prop_assert_ne!(wish(one).action_name().unwrap(), wish(other).action_name().unwrap());
            }
        }
    }
}

/// Closes S3: an id of the service may be any text, also one that another id begins with.
#[test]
fn an_id_that_another_one_begins_with_has_its_own_resources() {
    let (short, long): (Key, Key) =
        ("Contact/jane".parse().unwrap(), "Contact/john".parse().unwrap());
    let index = Arc::new(crate::store::index::ordered::MemoryIndex::new());
    let mut batch = Batch::new();
    REMOTE.put(&mut Changes::new(&*index, &mut batch), ("a", &short), &1_u64).unwrap();
    REMOTE.put(&mut Changes::new(&*index, &mut batch), ("a\0b", &long), &2_u64).unwrap();
    index.apply(batch).unwrap();
    let facts = ReadModel::new(index);
    assert_eq!(facts.resources_of_id("a").unwrap(), [(short, 1)]);
    assert_eq!(facts.resources_of_id("a\0b").unwrap(), [(long, 2)]);
}

#[test]
fn a_cycle_of_renames_without_the_first_name_ends() {
    let index = Arc::new(crate::store::index::ordered::MemoryIndex::new());
    let mut batch = Batch::new();
    let key = |name: &str| format!("Invoice/{name}").parse::<Key>().unwrap();
    for (from, to) in [("a", "b"), ("b", "c"), ("c", "b"), ("x", "y")] {
        let mut known = Observed::unknown(key(from), chrono::DateTime::UNIX_EPOCH);
        known.moved_to = Some(Box::new(key(to)));
        OBSERVED.put(&mut Changes::new(&*index, &mut batch), &key(from), &known).unwrap();
    }
    index.apply(batch).unwrap();
    let facts = ReadModel::new(index);
    assert!([key("b"), key("c")].contains(&facts.current_name(&key("a")).unwrap()));
    assert_eq!(facts.current_name(&key("x")).unwrap(), key("y"));
}
