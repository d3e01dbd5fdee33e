//! Secrets that no message may show, whatever error surrounds them.

use crate::kinds::testing::{cx, problems, read_in};

const CANARY: &str = "sk9Canary81Canary72Canary63";

/// Documents with an error near `CANARY`.
const PLACES: &[(&str, &str)] = &[
    ("Merchant", "mode: test\ncredentials: CANARY"),
    ("Merchant", "mode: test\ncredentials: {CANARY}"),
    ("Merchant", "mode: test\ncredentials: [CANARY]"),
    ("Merchant", "mode: test\ncredentials: {access_token: CANARY}"),
    ("Merchant", "mode: test\ncredentials: {access_token: {CANARY}}"),
    ("Merchant", "mode: test\ncredentials: {access_token: {CANARY: x}}"),
    ("Merchant", "mode: test\ncredentials: {access_token: {env: CANARY}}"),
    ("Merchant", "mode: test\ncredentials: {access_token: {env: [CANARY]}}"),
    ("Merchant", "mode: test\ncredentials: {access_token: {file: /CANARY}}"),
    ("Merchant", "mode: test\ncredentials: {access_token: {exec: /bin/cat CANARY}}"),
    ("Merchant", "mode: test\ncredentials: {access_token: {exec: [CANARY]}}"),
    ("Merchant", "mode: test\ncredentials: {access_token: {age: CANARY}}"),
    ("Merchant", "mode: test\ncredentials: {access_token: {age: {CANARY: x}}}"),
    ("Merchant", "mode: test\ncredentials: {access_token: {env: X, field: CANARY}}"),
    ("Merchant", "mode: test\ncredentials: {access_token: {exec: x, age: CANARY}}"),
    ("Merchant", "mode: test\ncredentials: {keys: CANARY}"),
    ("Merchant", "mode: test\ncredentials: {keys: {public_key: CANARY, secret_key: CANARY}}"),
    ("Merchant", "mode: test\ncredentials: {CANARY: {env: X}}"),
    ("SavedMethod", "merchant: a\ntype: card\nsource: CANARY"),
    ("SavedMethod", "merchant: a\ntype: card\nsource: {card: CANARY}"),
    (
        "SavedMethod",
        "merchant: a\ntype: card\nsource: {card: {number: CANARY, exp_month: 1, exp_year: 31}}",
    ),
    ("SavedMethod", "merchant: a\ntype: card\nsource: {card: {number: [CANARY]}}"),
    ("SavedMethod", "merchant: a\ntype: bank\nsource: {bank: {account_number: [CANARY]}}"),
    (
        "SavedMethod",
        "merchant: a\ntype: bank\nsource: {bank: {routing_number: '021000021', account_number: CANARY, account_type: SAVINGS, given_name: G, surname: S}}",
    ),
    ("Contact", "merchant: a\nfirst_name: {a: CANARY}"),
    ("Contact", "merchant: a\nemail_addresses: [CANARY]"),
    ("Contact", "CANARY"),
];

#[test]
fn a_secret_never_shows_whatever_is_wrong_around_it() {
    for (kind, spec) in PLACES {
        let spec = spec.replace("CANARY", CANARY);
        let told = problems(kind, &spec);
        assert!(!told.is_empty(), "{spec}");
        assert!(!told.contains("Canary"), "{told}");
        if let Err(misfit) = read_in(kind, &spec, &cx()) {
            assert!(!format!("{misfit:?}").contains("Canary"), "{misfit:?}");
        }
    }
}

#[test]
fn a_card_number_never_shows_wherever_it_was_written() {
    let number = "4539578763621486";
    for (kind, spec) in [
        (
            "Invoice",
            format!(
                "merchant: '{number} x'\ncontact: b\nbank_account: c\ninvoice_date: {number}\nline_items: [{{description: A, rate_per_quantity: '{number}'}}]"
            ),
        ),
        ("Invoice", format!("merchant: a\n'{number}': b")),
        ("Invoice", format!("line_items: {number}")),
        ("RecurringCharge", format!("merchant: a\nmethod: b\namount: {number}.5")),
        ("SavedMethod", format!("merchant: a\ntype: '{number}'")),
        (
            "SavedMethod",
            format!("merchant: a\ntype: card\nsource: {{card: {{number: -{number}}}}}"),
        ),
        (
            "SavedMethod",
            format!(
                "merchant: a\ntype: card\nsource: {{card: {{number: {{env: C}}, exp_month: {number}, exp_year: 31}}}}"
            ),
        ),
    ] {
        let told = problems(kind, &spec);
        assert!(!told.is_empty(), "{spec}");
        assert!(!told.contains(number), "{told}");
    }
}
