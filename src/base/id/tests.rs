//! Laws of names and ids.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn name(text: &str) -> Name {
    text.parse().unwrap()
}

#[test]
fn a_name_is_lowercase_letters_digits_dashes_and_dots() {
    for good in ["a", "7", "jane-2026-11", "a.b-c", &"x".repeat(63)] {
        assert_eq!(name(good).as_str(), good);
    }
    for bad in ["", "-a", "a-", ".a", "a.", "Jane", "a_b", "ä", "a b", "a/b", &"x".repeat(64)] {
        assert!(bad.parse::<Name>().is_err(), "{bad}");
    }
}

#[test]
fn a_refused_name_comes_with_one_that_is_accepted() {
    for (bad, suggestion) in [("Jane Doe", "jane-doe"), ("-a-", "a"), ("__", NAME_EXAMPLE)] {
        let error = bad.parse::<Name>().unwrap_err().to_string();
        assert!(error.contains(&format!("`{suggestion}`")), "{error}");
        assert_eq!(name(suggestion).as_str(), suggestion);
    }
}

#[test]
fn a_key_without_a_namespace_is_in_the_default_one() {
    let short: Key = "Invoice/jane".parse().unwrap();
    let long: Key = "Invoice/default/jane".parse().unwrap();
    assert_eq!(short, long);
    assert_eq!(long.to_string(), "Invoice/default/jane");
    assert_eq!(long.short(), "Invoice/jane");
    let other: Key = "Invoice/acme/jane".parse().unwrap();
    assert_eq!(other.short(), "Invoice/acme/jane");
}

#[test]
fn a_key_of_another_shape_is_refused() {
    for bad in ["", "Invoice", "Invoice/", "/jane", "A/b/c/d", "A//b", "A/b/", "In voice/a"] {
        assert!(bad.parse::<Key>().is_err(), "{bad}");
    }
}

#[test]
fn a_key_is_one_string_in_json_and_is_checked_on_the_way_in() {
    let key = Key::new(Kind::new("Contact"), &Name::default_namespace(), &name("jane"));
    let json = serde_json::to_string(&key).unwrap();
    assert_eq!(json, r#""Contact/default/jane""#);
    assert_eq!(serde_json::from_str::<Key>(&json).unwrap(), key);
    assert!(serde_json::from_str::<Key>(r#""Contact/default/JANE""#).is_err());
    assert!(serde_json::from_str::<Name>(r#""JANE""#).is_err());
}

#[test]
fn an_id_of_the_service_is_opaque_but_neither_empty_nor_endless() {
    assert_eq!(RemoteId::new("_-x").unwrap().as_str(), "_-x");
    assert!(RemoteId::new("").is_err());
    assert!(RemoteId::new(&"x".repeat(REMOTE_ID_LENGTH_MAX)).is_ok());
    assert!(PublicKey::new(&"x".repeat(REMOTE_ID_LENGTH_MAX + 1)).is_err());
    assert_eq!(serde_json::to_string(&PublicKey::new("m_1").unwrap()).unwrap(), r#""m_1""#);
    assert!(serde_json::from_str::<RemoteId>(r#""""#).is_err());
}

#[test]
fn an_intent_reads_back_as_it_is_written() {
    let id = IntentId::new(123);
    assert_eq!(id.to_string(), "i-000123");
    for text in ["i-000123", "i-123", "123"] {
        assert_eq!(text.parse::<IntentId>().unwrap(), id);
    }
    for bad in ["", "i-", "i-+1", "+1", "x-1", "i-99999999999999999999"] {
        assert!(bad.parse::<IntentId>().is_err(), "{bad}");
    }
    assert_eq!(serde_json::to_string(&id).unwrap(), "123");
}

#[test]
fn intents_rise_and_never_wrap() {
    assert!(IntentId::new(0) < IntentId::new(0).next());
    assert_eq!(IntentId::new(u64::MAX).next().get(), u64::MAX);
}

#[test]
fn a_mode_is_written_in_lower_case_everywhere() {
    for mode in [Mode::Test, Mode::Live] {
        assert_eq!(serde_json::to_string(&mode).unwrap(), format!("\"{mode}\""));
        assert_eq!(mode.as_str().parse::<Mode>().unwrap(), mode);
    }
    assert!("TEST".parse::<Mode>().is_err());
}

#[test]
fn equal_keys_are_one_whatever_they_come_from() {
    let parsed: Key = "Contact/jane-shared".parse().unwrap();
    let whole: Key = "Contact/default/jane-shared".parse().unwrap();
    let read: Key = serde_json::from_str("\"Contact/default/jane-shared\"").unwrap();
    let name = |text: &str| -> Name { text.parse().unwrap() };
    let joined = Key::new(Kind::new("Contact"), &name("default"), &name("jane-shared"));
    for other in [whole, read, joined] {
        assert_eq!(parsed, other);
        assert!(std::ptr::eq::<KeyParts>(&raw const *parsed, &raw const *other));
    }
    let elsewhere: Key = "Contact/other/jane-shared".parse().unwrap();
    assert_ne!(parsed, elsewhere);
}

#[test]
fn keys_are_ordered_by_kind_then_namespace_then_name() {
    let mut keys = ["B/a/a", "A/b/a", "A/a-b/a", "A/a/b", "A/a/a", "A/a.b/a"].map(|text| {
        let key: Key = text.parse().unwrap();
        key
    });
    keys.sort();
    let order = keys.map(|key| key.to_string());
    assert_eq!(order, ["A/a/a", "A/a/b", "A/a-b/a", "A/a.b/a", "A/b/a", "B/a/a"]);
}

proptest! {
    #[test]
    fn names_of_keys_are_ordered_as_texts(mut names in vec("[a-c]([a-c0.-]{0,20}[a-c])?", 2..20)) {
        let keys: BTreeSet<Key> = names.iter().map(|name| format!("A/{name}").parse().unwrap()).collect();
        names.sort();
        names.dedup();
        let order: Vec<String> = keys.iter().map(|key| key.name.to_string()).collect();
        prop_assert_eq!(order, names);
    }
}

#[test]
fn a_known_key_permits_no_text_that_is_no_key() {
    let odd = Key::new(Kind::new("no kind"), &"a".parse().unwrap(), &"b".parse().unwrap());
    assert!(odd.to_string().parse::<Key>().is_err());
}
