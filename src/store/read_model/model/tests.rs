//! Properties of the entries' keys: two things never share one.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;

use crate::base::id::{Kind, Name};
use crate::model::events::hook_run::{ActionRequestId, Channel, Scheduled};
use crate::model::operator::WebhookAddress;
use crate::store::read_model::events::{
    event_key, forged_key, ledger_key, malformed_key, malformed_of, newest_page_key, number_key,
    numbers_of, object_key, unmatched_key, waiting_key,
};
use crate::store::read_model::failed::{failed_count_key, failed_key, failed_of};
use crate::store::read_model::hooks::{
    at_most_key, cursor_key, cursors_of, depth_key, doubt_key, failed_action_key,
    failed_actions_of, new_events_key, request_key, requests_of, result_key, results_of,
    roster_key, schedule_key, sending_key, stored_size_key, stored_value_key, stored_values_of,
    to_run_key,
};
use crate::store::read_model::journal_refs::{
    intent_position_key, page_key, remote_key, sequences_key,
};
use crate::store::read_model::model::*;
use crate::store::read_model::operator::{
    absence_key, disowned_key, release_key, rotation_key, unknown_object_key,
};

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
        (of_key("observed"), observed_key(key)),
        (of_key("open"), open_key(key)),
        (of_key("suspended"), suspension_key(key)),
        (of_key("released"), release_key(key)),
        (of_key("trail"), sequences_key(key)),
        (of_key("ledger"), ledger_key(key)),
        (of_key("newest page"), newest_page_key(key)),
        (of_key("to run"), to_run_key(key)),
        (of_key("depth"), depth_key(key)),
        (of_key("doubt"), doubt_key(key)),
        (of_key("sure"), new_events_key(key)),
        (of_key("rotation"), rotation_key(&WebhookAddress::Merchant(key.clone()))),
        ("rotation of the partner".to_owned(), rotation_key(&WebhookAddress::Partner)),
        (of_id("event"), event_key(key, id)),
        (of_id("forged"), forged_key(key, id)),
        (of_id("garbled"), malformed_key(key, &digest)),
        (of_id("object"), object_key(key, id)),
        (of_id("remote"), remote_key(id, key)),
        (of_number("number"), number_key(key, number)),
        (of_number("waiting"), waiting_key(key, number)),
        (of_number("page"), page_key(key, page)),
        (of_number("undone"), failed_action_key(key, number)),
        (of_request("request"), request_key(&request)),
        (of_request("granted"), result_key(&request)),
        (of_request("telling"), sending_key(&request)),
        (format!("failed {key} {id:?} {script}"), failed_key(key, id, script)),
        (format!("cursor {key} {script}"), cursor_key(key, script)),
        (format!("kept {script} {id:?}"), stored_value_key(script, id)),
        (format!("mark {id:?}"), mark_key(id)),
        (format!("plan {id:?}"), plan_key(id)),
        (format!("disowned {id:?}"), disowned_key(id)),
        (format!("unknown object {id:?}"), unknown_object_key(id)),
        (format!("looked {script} {id:?}"), absence_key(script, id)),
        (format!("intent {number}"), intent_key(intent)),
        (format!("intent position {number}"), intent_position_key(intent)),
        (format!("orphan {number}"), orphan_key(intent)),
        (format!("inbox {id:?}"), partner_webhook_key(&digest)),
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
        (observed_key(&key), of_key("o/")),
        (open_key(&key), of_key("k/")),
        (suspension_key(&key), of_key("z/")),
        (release_key(&key), of_key("e/r/")),
        (sequences_key(&key), of_key("t/")),
        (ledger_key(&key), of_key("v/l/")),
        (newest_page_key(&key), of_key("v/p/")),
        (to_run_key(&key), of_key("w/r/")),
        (depth_key(&key), of_key("w/c/")),
        (doubt_key(&key), of_key("w/u/")),
        (new_events_key(&key), of_key("w/s/")),
        (rotation_key(&rotated), of_key("v/t/")),
        (rotation_key(&WebhookAddress::Partner), bytes("v/t/partner")),
        (event_key(&key, "e"), below("v/e/", b"e")),
        (forged_key(&key, "e"), below("v/f/", b"e")),
        (unmatched_key(&key, "e"), below("v/h/", b"e")),
        (malformed_key(&key, &digest), below("v/g/", digest.as_bytes())),
        (malformed_of(&key), below("v/g/", b"")),
        (object_key(&key, "e"), below("v/o/", b"e")),
        (number_key(&key, 258), below("v/n/", &number)),
        (numbers_of(&key), below("v/n/", b"")),
        (waiting_key(&key, 258), below("v/w/", &number)),
        (page_key(&key, 258), below("g/", &[0, 0, 1, 2])),
        (failed_action_key(&key, 258), below("w/x/", &number)),
        (failed_actions_of(&key), below("w/x/", b"")),
        (failed_count_key(&key, "s"), below("w/e/", b"s")),
        (cursor_key(&key, "s"), below("w/o/", b"s")),
        (cursors_of(&key), below("w/o/", b"")),
        (request_key(&request), below("w/p/", b"e\0/\0now")),
        (requests_of(&key, "e"), below("w/p/", b"e\0")),
        (result_key(&request), below("w/d/", b"e\0/\0now")),
        (results_of(&key, "e"), below("w/d/", b"e\0")),
        (sending_key(&request), below("w/t/", b"e\0/\0now")),
        (failed_key(&key, "e", "s"), below("w/f/", b"e\0s")),
        (failed_of(&key, "e"), below("w/f/", b"e\0")),
        (at_most_key(&key, "s", "k"), below("w/m/", b"s\0k")),
        (schedule_key(&scheduled), scheduled_at_epoch),
        (stored_value_key("s", "k"), bytes("w/k/s\0k")),
        (stored_values_of("s"), bytes("w/k/s\0")),
        (stored_size_key("s"), bytes("w/z/s")),
        (roster_key("s"), bytes("w/n/s")),
        (remote_key("a\0b", &key), bytes("j/a\0b\0Merchant/default/acme")),
        (mark_key("m"), bytes("m/m")),
        (plan_key("t"), bytes("y/t")),
        (disowned_key("d"), bytes("d/d")),
        (unknown_object_key("u"), bytes("h/u")),
        (absence_key("effect", "source"), bytes("e/l/effect/source")),
        (public_key_key(&PublicKey::new("m_1").unwrap()), bytes("p/m_1")),
        (intent_key(intent), numbered("i/")),
        (intent_position_key(intent), numbered("q/")),
        (orphan_key(intent), numbered("r/")),
        (partner_webhook_key(&digest), [b"n/", &digest.as_bytes()[..]].concat()),
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
    write(&mut batch, &remote_key("a", &short), &1_u64).unwrap();
    write(&mut batch, &remote_key("a\0b", &long), &2_u64).unwrap();
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
        write(&mut batch, &observed_key(&key(from)), &known).unwrap();
    }
    index.apply(batch).unwrap();
    let facts = ReadModel::new(index);
    assert!([key("b"), key("c")].contains(&facts.current_name(&key("a")).unwrap()));
    assert_eq!(facts.current_name(&key("x")).unwrap(), key("y"));
}
