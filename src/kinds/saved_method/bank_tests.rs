use serde_json::json;

use crate::kinds::testing::{good, link_problems, manifest, problems};

const BUSINESS: &str = "name: Doe Ltd, account_holder_type: business";
const HELP: &str = "write `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`; an account number may be in plain text only beside a routing number that the service publishes for tests";

fn bank(routing: &str, account: &str, rest: &str) -> String {
    format!(
        "merchant: acme\ntype: bank\nsource: {{bank: {{routing_number: {routing}, account_number: {account}, account_type: CHECKING, {rest}}}}}"
    )
}

fn check(spec: &str, expect: &str) {
    assert_eq!(problems("SavedMethod", spec), expect);
}

#[test]
fn a_holder_is_a_business_or_an_individual() {
    assert_eq!(
        good("SavedMethod", &bank("'021000021'", "{env: ACCOUNT}", BUSINESS)),
        json!({
            "merchant": "acme",
            "type": "bank",
            "source": {"bank": {
                "routing_number": "021000021", "account_number": {"env": "ACCOUNT"},
                "account_type": "CHECKING", "account_holder_type": "business", "name": "Doe Ltd",
            }},
        })
    );
    // Closes E1: public clients name a holder and no type.
    let named = good("SavedMethod", &bank("'021000021'", "{env: ACCOUNT}", "name: Doe Ltd"));
    assert_eq!(named["source"]["bank"]["name"], "Doe Ltd");
    let person = bank("111000025", "12345", "given_name: Jane, surname: Doe");
    let source = &good("SavedMethod", &person)["source"]["bank"];
    assert_eq!(source["routing_number"], "111000025");
    assert_eq!(source["account_number"], json!({"literal": "12345"}));
    assert_eq!((&source["given_name"], &source["surname"]), (&json!("Jane"), &json!("Doe")));
}

#[test]
fn a_holder_is_named_in_one_way_and_whole() {
    let half = "the holder is incomplete";
    for (holder, message) in [
        ("account_holder_type: business", format!("{half}: a business needs `name`")),
        ("surname: Doe", format!("{half}: an individual needs both names")),
        ("given_name: Jane", format!("{half}: an individual needs both names")),
        (
            "given_name: Jane, surname: Doe, name: Doe Ltd, account_holder_type: business",
            "the holder is named both as a business and as an individual".to_owned(),
        ),
        ("", "the account has no holder".to_owned()),
    ] {
        check(
            &bank("'000000013'", "{env: A}", holder),
            &format!(
                "reckon::saved_method::holder @ spec.source.bank: {message} | write `name`, or `given_name` and `surname`"
            ),
        );
    }
    check(
        &bank("'000000013'", "{env: A}", "name: Jane, account_holder_type: individual"),
        "reckon::spec::unknown_value @ spec.source.bank.account_holder_type: unknown value `individual` | write `business`",
    );
    check(
        &bank("'000000013'", "{env: A}", "given_name: '', surname: Doe"),
        "reckon::text::empty @ spec.source.bank.given_name: the text is empty | write a text, such as `Jane`",
    );
}

#[test]
fn a_routing_number_has_nine_digits_that_check_each_other() {
    let wrong = |message: &str| {
        format!(
            "reckon::saved_method::routing_number @ spec.source.bank.routing_number: {message} | write the nine digits of the bank, in quotes, such as `\"111000025\"`"
        )
    };
    for (routing, message) in [
        ("'021000022'", "the routing number has a wrong digit: its check digit does not fit"),
        ("12345", "the routing number is not nine digits"),
        ("'02100002x'", "the routing number is not nine digits"),
    ] {
        check(&bank(routing, "{env: A}", BUSINESS), &wrong(message));
    }
    for published in ["'000000000'", "'000000013'", "'000000001'", "'111000025'"] {
        check(&bank(published, "{env: A}", BUSINESS), "");
    }
}

#[test]
fn an_account_number_stands_in_the_open_only_beside_a_test_bank() {
    check(&bank("'000000013'", "'1000000001'", BUSINESS), "");
    check(
        &bank("'021000021'", "'1000000001'", BUSINESS),
        &format!(
            "reckon::saved_method::account_in_the_open @ spec.source.bank.account_number: the account number is in plain text | {HELP}"
        ),
    );
    for number in ["'123'", "'123456789012345678'", "12-34"] {
        check(
            &bank("'000000013'", number, BUSINESS),
            &format!(
                "reckon::saved_method::account_number @ spec.source.bank.account_number: an account number has 4 to 17 digits and nothing else | {HELP}"
            ),
        );
    }
}

#[test]
fn a_test_account_is_not_saved_under_a_live_merchant() {
    let merchant = "mode: live\ncredentials: {access_token: {env: A}}";
    let open = manifest("SavedMethod", "it", &bank("'000000013'", "'1000000001'", BUSINESS));
    assert_eq!(
        link_problems(&[open, manifest("Merchant", "acme", merchant)]),
        "reckon::saved_method::test_number_live @ spec.source.bank.account_number: a test number cannot be saved: Merchant/default/acme is live | write `{env: NAME}`, `{file: NAME}`, `{exec: NAME}` or `{age: …}`, or use a merchant in test mode\n  \
         Merchant/default/acme spec.mode: the merchant is live"
    );
    let hidden = manifest("SavedMethod", "it", &bank("'000000013'", "{env: A}", BUSINESS));
    assert_eq!(link_problems(&[hidden, manifest("Merchant", "acme", merchant)]), "");
}

#[test]
fn the_source_is_what_the_type_says() {
    let card = "{number: {env: C}, exp_month: 1, exp_year: 31}";
    let bank = format!(
        "{{routing_number: '000000013', account_number: {{env: A}}, account_type: SAVINGS, {BUSINESS}}}"
    );
    let expect = |place: &str, message: &str, sort: &str| {
        format!(
            "reckon::saved_method::source @ {place}: {message} | write `source: {{{sort}: …}}` alone, or another `type`\n  spec.type: the method is a `{sort}`"
        )
    };
    let spec = |sort: &str, source: &str| format!("merchant: a\ntype: {sort}\nsource: {source}");
    check(
        &spec("card", &format!("{{bank: {bank}}}")),
        &expect("spec.source.bank", "a `card` has no bank account as its source", "card"),
    );
    check(
        &spec("bank", &format!("{{card: {card}}}")),
        &expect("spec.source.card", "a `bank` has no card as its source", "bank"),
    );
    check(
        &spec("card", &format!("{{card: {card}, bank: {bank}}}")),
        &expect("spec.source.bank", "a `card` has no bank account as its source", "card"),
    );
    check(&spec("bank", "{}"), "");
    let merchant = manifest("Merchant", "a", "mode: test\ncredentials: {access_token: {env: A}}");
    assert_eq!(
        link_problems(&[manifest("SavedMethod", "it", &spec("bank", "{}")), merchant]),
        expect("spec.source", "the source has no `bank`", "bank"),
        "an empty source is for what is there already"
    );
}

#[test]
fn every_field_of_a_bank_has_its_type() {
    check(
        "merchant: a\ntype: bank\nsource: {bank: {routing_number: [1], account_number: {env: A}, account_type: CHECKING}}",
        "reckon::spec::wrong_type @ spec.source.bank.routing_number: expected a text, found a list | write a text",
    );
    check(
        &bank("'000000013'", "{env: A}", BUSINESS).replace("CHECKING", "checking"),
        "reckon::spec::unknown_value @ spec.source.bank.account_type: unknown value `checking` | write `CHECKING`",
    );
}
