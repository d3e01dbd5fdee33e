use serde_json::json;

use crate::kinds::testing::{good, link_problems, manifest, problems};

fn method(number: &str) -> String {
    format!(
        "merchant: acme\ntype: card\nsource: {{card: {{number: {number}, exp_month: 08, exp_year: 31}}}}"
    )
}

fn check(spec: &str, expect: &str) {
    assert_eq!(problems("SavedMethod", spec), expect);
}

#[test]
fn a_year_of_two_digits_becomes_four() {
    let spec = "merchant: acme\ntype: card\ndescription: Jane's\nsource:\n  card: {number: {env: CARD}, exp_month: '08', exp_year: 31, name: Jane Doe, address1: 1 Main St, city: Austin, state: TX, postal_code: 78701-1234}";
    assert_eq!(
        good("SavedMethod", spec),
        json!({
            "merchant": "acme",
            "type": "card",
            "source": {"card": {
                "number": {"env": "CARD"}, "exp_month": 8, "exp_year": 2031, "name": "Jane Doe",
                "address1": "1 Main St", "city": "Austin", "state": "TX", "postal_code": "78701-1234",
            }},
            "description": "Jane's",
        })
    );
}

#[test]
fn a_published_test_number_may_stand_in_the_open_quoted_or_not() {
    for number in ["4242424242424242", "'4242 4242 4242 4242'", "4242424242424241"] {
        check(&method(number), "");
    }
    assert_eq!(
        good("SavedMethod", &method("4242424242424242"))["source"]["card"]["number"],
        json!({"literal": "4242424242424242"})
    );
}

#[test]
fn no_other_number_may_and_none_is_repeated() {
    let help = "write `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`, or one of the test numbers that the service publishes";
    check(
        &method("4539578763621486"),
        &format!(
            "reckon::saved_method::number_in_the_open @ spec.source.card.number: the card number is in plain text | {help}"
        ),
    );
    for (number, message) in [
        ("4242424242424243", "the card number has a wrong digit: its check digit does not fit"),
        ("42424242", "the card number has 8 digits; it must have 12 to 19"),
        ("canary", "the card number holds something other than digits, spaces and dashes"),
    ] {
        check(
            &method(number),
            &format!(
                "reckon::saved_method::number_malformed @ spec.source.card.number: {message} | {help}"
            ),
        );
    }
}

#[test]
fn a_test_number_is_not_saved_under_a_live_merchant() {
    let merchant = |mode: &str| {
        manifest(
            "Merchant",
            "acme",
            &format!("mode: {mode}\ncredentials: {{access_token: {{env: A}}}}"),
        )
    };
    let open = manifest("SavedMethod", "card", &method("4242424242424242"));
    let hidden = manifest("SavedMethod", "card", &method("{env: CARD}"));
    assert_eq!(link_problems(&[open.clone(), merchant("test")]), "");
    assert_eq!(link_problems(&[hidden, merchant("live")]), "");
    assert_eq!(
        link_problems(&[open, merchant("live")]),
        "reckon::saved_method::test_number_live @ spec.source.card.number: a test number cannot be saved: Merchant/default/acme is live | write `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`, or use a merchant in test mode\n  \
         Merchant/default/acme spec.mode: the merchant is live"
    );
}

#[test]
fn expiry_and_lengths_are_checked_and_all_told() {
    let long = "x".repeat(65);
    let too_long = "the text has 65 characters, and the service keeps at most 64 | write at most 64 characters";
    check(
        &format!(
            "merchant: acme\ntype: card\ndescription: {long}\nreference: r\nsource:\n  card: {{number: {{env: C}}, exp_month: 13, exp_year: 131, name: {long}, address1: {long}, city: {long}, state: {long}, postal_code: '1'}}"
        ),
        &format!(
            "reckon::saved_method::exp_month @ spec.source.card.exp_month: 13 is not a month | write 1 to 12\n\
             reckon::saved_method::exp_year @ spec.source.card.exp_year: 131 is not a year of expiry | write two or four digits, such as `2031`\n\
             reckon::text::too_long @ spec.source.card.name: {too_long}\n\
             reckon::text::too_long @ spec.source.card.address1: {too_long}\n\
             reckon::text::too_long @ spec.source.card.city: {too_long}\n\
             reckon::text::too_long @ spec.source.card.state: {too_long}\n\
             reckon::text::postal_code @ spec.source.card.postal_code: the text is not a postal code | write 3 to 9 letters and digits, at most 10 characters with spaces and dashes\n\
             reckon::text::too_long @ spec.description: {too_long}\n\
             reckon::spec::refused_field @ spec.reference (key): reckon keeps its mark in `reference`, to find the method again | leave it out; a text of your own goes into `description`"
        ),
    );
}

#[test]
fn there_is_no_security_code() {
    let expect = |path: &str| {
        format!(
            "reckon::spec::security_code @ {path} (key): no spec has a field `cvv` | remove the field: a card's security code must not be stored, and saving a card needs none"
        )
    };
    check(
        "merchant: acme\ntype: card\nsource: {card: {number: {env: C}, exp_month: 1, exp_year: 31, cvv: 123}}",
        &expect("spec.source.card.cvv"),
    );
    let told = problems("SavedMethod", "merchant: acme\ntype: card\ncvv: '123'");
    assert_eq!(told.lines().next(), Some(expect("spec.cvv").as_str()));
    assert!(!told.contains("123"), "{told}");
}

#[test]
fn a_month_is_a_whole_number() {
    check(
        "merchant: acme\ntype: card\nsource: {card: {number: {env: C}, exp_month: May, exp_year: 31}}",
        "reckon::spec::wrong_type @ spec.source.card.exp_month: expected a whole number, found the text \"May\" | write a whole number",
    );
    check(
        "merchant: acme\ntype: card\nsource: {card: {number: {env: C}, exp_month: -1, exp_year: 31}}",
        "reckon::spec::wrong_type @ spec.source.card.exp_month: expected a whole number, found the number -1 | write a whole number",
    );
}
