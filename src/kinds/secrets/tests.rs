use serde_json::{Value, json};

use super::*;
use crate::kinds::register;
use crate::kinds::testing::good;

const KEY: [u8; 32] = [7; 32];

fn fields(kind: &str) -> &'static [SpecField] {
    register::find(kind).unwrap().fields
}

fn method(number: &str, name: &str) -> Value {
    let card = format!(
        "{{number: {number}, exp_month: 1, exp_year: 31, name: {name}, city: Canaryville, postal_code: 78701}}"
    );
    good(
        "SavedMethod",
        &format!(
            "merchant: acme\ntype: card\ndescription: canary card 4111111111111111\nsource: {{card: {card}}}"
        ),
    )
}

#[test]
fn no_private_value_survives_redaction() {
    let spec = method("4242424242424242", "Jane Canary");
    let redacted = redact(fields("SavedMethod"), &spec, &KEY);
    let text = redacted.to_string();
    for canary in ["4242", "Jane", "Canaryville", "78701", "4111"] {
        assert!(!text.contains(canary), "{canary} in {text}");
    }
    assert_eq!(redacted["merchant"], "acme");
    assert_eq!(redacted["source"]["card"]["exp_year"], 2031);
    let digest = redacted["source"]["card"]["number"]["digest"].as_str().unwrap();
    assert_eq!(digest.len(), 12);
}

#[test]
fn a_changed_value_changes_its_digest_alone() {
    let before = redact(fields("SavedMethod"), &method("4242424242424242", "Jane"), &KEY);
    let after = redact(fields("SavedMethod"), &method("4242424242424242", "Joan"), &KEY);
    assert_ne!(before["source"]["card"]["name"], after["source"]["card"]["name"]);
    assert_eq!(before["source"]["card"]["number"], after["source"]["card"]["number"]);
    assert_ne!(
        before,
        redact(fields("SavedMethod"), &method("4242424242424242", "Jane"), &[8; 32])
    );
}

#[test]
fn where_a_secret_comes_from_is_no_secret() {
    let spec = method("{env: CARD_OF_JANE}", "Jane");
    let redacted = redact(fields("SavedMethod"), &spec, &KEY);
    assert_eq!(redacted["source"]["card"]["number"], json!({"env": "CARD_OF_JANE"}));
}

#[test]
fn a_program_s_name_stays_and_a_sealed_text_does_not() {
    let spec = method("{exec: card-of-jane}", "Jane");
    let redacted = redact(fields("SavedMethod"), &spec, &KEY);
    assert_eq!(redacted["source"]["card"]["number"], json!({"exec": "card-of-jane"}));
    let sealed = |text: &str| {
        let mut spec = spec.clone();
        spec["source"]["card"]["number"] = json!({"age": text, "field": "source.card.number"});
        redact(fields("SavedMethod"), &spec, &KEY)["source"]["card"]["number"].clone()
    };
    assert_eq!(sealed("canary")["digest"].as_str().map(str::len), Some(12));
    assert_ne!(sealed("canary"), sealed("another"));
}

#[test]
fn addresses_in_lists_are_personal() {
    let spec = good(
        "Invoice",
        "merchant: a\ncontact: b\nbank_account: c\ninvoice_date: 2026-11-30\nline_items: [{description: D, rate_per_quantity: 1}]\ninvoice_messages: [{email_addresses: [canary@example.com], subject: S}]",
    );
    assert!(!redact(fields("Invoice"), &spec, &KEY).to_string().contains("canary"));
}

#[test]
fn the_longest_entry_covers_a_path() {
    let fields = fields("SavedMethod");
    assert_eq!(field_of(fields, "spec.source.card.number.env").unwrap().path, "source.card.number");
    assert_eq!(field_of(fields, "spec.source.intake").unwrap().path, "source");
    assert!(field_of(fields, "spec.sourcery").is_none());
    assert!(field_of(fields, "metadata.name").is_none());
}

#[test]
fn a_place_above_a_private_one_touches_it() {
    let fields = fields("Merchant");
    for private in [".", "spec", "spec.credentials", "spec.credentials.access_token.env"] {
        assert!(touches_private(fields, private), "{private}");
    }
    assert!(!touches_private(fields, "spec.mode"));
}
