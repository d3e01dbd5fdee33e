//! The content that two documents must share to look like one that was renamed.

use super::facts::*;
use super::*;
use crate::plan::prune_state::{of_applied, of_manifest};

#[test]
fn names_of_what_may_have_been_renamed_along_and_the_owner_s_namespace_do_not_count() {
    let spec = json!({"merchant": "acme", "amount": 1, "method": "card", "contact": "jane"});
    let essence = of_applied(&spec);
    assert!(essence.is_some());
    for (field, value, same) in [
        ("method", json!("gold"), true),
        ("contact", json!("joe"), true),
        ("method.details", json!({"digest": "x"}), true),
        ("merchant", json!("north/acme"), true),
        ("merchant", json!("other"), false),
        ("merchant", json!("acme/other"), false),
        ("merchant", json!(null), false),
        ("amount", json!(2), false),
        ("description", json!("new"), false),
    ] {
        let mut other = spec.clone();
        other[field] = value;
        assert_eq!(of_applied(&other) == essence, same, "{other}");
    }
}

#[test]
fn what_is_not_known_is_like_nothing() {
    for spec in [json!(null), json!("text"), json!([1])] {
        assert_eq!(of_applied(&spec), None);
    }
    let mut odd = card("card");
    odd.spec = json!(null);
    assert_eq!(of_manifest(&odd, &[7; 32]), None);
    odd = card("card");
    odd.key = key("Thing/card");
    assert_eq!(of_manifest(&odd, &[7; 32]), None, "there is no such kind");
}

#[test]
fn a_document_says_the_same_as_what_was_put_on_the_service_of_it() {
    let rig = Rig::applied(vec![acme(), contact("jane", "Jane")]);
    let applied = rig.known.observed[&key("Contact/jane")].applied.clone().unwrap();
    let of = |document: Manifest| of_manifest(&document, &[7; 32]).unwrap();
    assert_eq!(of(contact("other", "Jane")), of_applied(&applied.spec));
    assert_ne!(of(contact("other", "Joan")), of_applied(&applied.spec), "a private value counts");
}
