//! Cleaning of outside texts: kept text and removed values.

use proptest::prelude::*;

use super::*;

fn known(values: &[&str]) -> KnownValues {
    let mut known = KnownValues::default();
    for value in values {
        known.hide_secret(value);
    }
    known
}

fn cleaned(text: &str, values: &[&str]) -> String {
    ServiceText::clean(text, &known(values)).to_string()
}

/// Closes S2: the words of the finding.
#[test]
fn a_quoted_request_loses_card_account_and_name() {
    let mut known = known(&["4242424242424242", "99887766"]);
    known.hide_words("Jane Doe");
    let quoted = "number 4242 4242 4242 4242 is wrong; account 99887766 of Jane, JANE DOE";
    let told = ServiceText::clean(quoted, &known).to_string();
    assert_eq!(told, "number *** is wrong; account *** of ***, ***");
}

#[test]
fn a_known_value_is_found_however_it_is_written() {
    let code = "ac_7Hq9-Zr2K";
    for shown in [
        "ac_7Hq9-Zr2K",
        "AC_7HQ9-ZR2K",
        "ac 7Hq9.Zr2K",
        "%61c_7Hq9-Zr2K",
        "%2561c_7Hq9-Zr2K",
        "\\u0061c_7Hq9\\u002dZr2K",
        "&#97;c_7Hq9&#x2d;Zr2K",
        "ac_7\u{200b}Hq9-Zr2K",
        "YWNfN0hxOS1acjJL",
        "61635f374871392d5a72324b",
    ] {
        let told = cleaned(&format!("the code {shown} was used"), &[code]);
        assert!(told.starts_with("the code ***") && told.ends_with(" was used"), "{shown}: {told}");
    }
    for before in ["", "k", "ke"] {
        let header = data_encoding::BASE64.encode(format!("{before}{code}:").as_bytes());
        let told = cleaned(&header, &[code]);
        assert!(!told.contains("HxOS1acj") && told.contains("***"), "{header}: {told}");
    }
}

#[test]
fn long_numbers_are_masked_though_nobody_knows_them() {
    for number in [
        "4242424242424242",
        "4242.4242.4242.4242",
        "4242, 4242, 4242, 4242",
        "12-3456789",
        "123-45-6789",
        "9988 7766",
        "٤٢٤٢٤٢٤٢",
        "4242-42424242%2d4242",
    ] {
        assert_eq!(cleaned(&format!("a {number} b"), &[]), "a *** b", "{number}");
    }
    for plain in ["on 2026-11-30, HTTP 404", "2026-11-30 12:00:00", "10.00 USD", "12 to 19 digits"]
    {
        assert_eq!(cleaned(plain, &[]), plain);
    }
}

#[test]
fn short_values_are_taken_out_as_words_alone() {
    assert_eq!(cleaned("cvv 123 of A123", &["123"]), "cvv *** of A123");
    assert_eq!(cleaned("Al also", &["Al"]), "*** also");
}

#[test]
fn nothing_steers_a_terminal_or_begins_a_line() {
    let told = cleaned("a\u{1b}[31mred\r\n\u{202e}evil\u{7}\u{9b}2J", &[]);
    assert_eq!(told, "a [31mred evil 2J");
}

#[test]
fn megabytes_become_three_hundred_characters() {
    for piece in ["x ", "4242", "%25", "\\u0034", "&#52;", "é", "\u{200b}"] {
        let text = piece.repeat(2_000_000);
        let told = cleaned(&text, &["4242424242424242"]);
        assert!(told.chars().count() <= TEXT_CHARACTERS_MAX, "{piece}");
        assert!(!told.contains("42"), "{told}");
    }
}

#[test]
fn a_long_value_is_hidden_from_its_first_piece_on() {
    let strokes: Vec<String> = (0..400).map(|n| format!("[{n},{}]", n * 7 % 100)).collect();
    let strokes = strokes.concat();
    let told = cleaned(&format!("signature {} is invalid", &strokes[..900]), &[&strokes]);
    assert!(told.len() < 60, "{told}");
}

#[test]
fn codes_and_places_are_identifiers() {
    let none = KnownValues::default();
    let code = |text: &str| ServiceCode::parse(text, &none).to_string();
    assert_eq!(code("card_declined"), "card_declined");
    assert_eq!(code(""), "");
    for odd in ["Jane", "4242424242424242", "a b", "a\u{1b}", &"a".repeat(65)] {
        assert_eq!(code(odd), "unreadable", "{odd}");
    }
    let place = |text: &str, values: &[&str]| ServicePlace::parse(text, &known(values)).to_string();
    assert_eq!(place("line_items[0].rate", &[]), "line_items[0].rate");
    assert_eq!(place("Token[tok_3fQz81Lm]", &["tok_3fQz81Lm"]), "Token[***]");
    assert_eq!(place("<b>", &[]), "***");
}

#[test]
fn an_old_record_is_cleaned_as_it_is_read() {
    let old = r#""number 4242424242424242 \u001b[K""#;
    let text: ServiceText = serde_json::from_str(old).unwrap();
    assert_eq!(serde_json::to_string(&text).unwrap(), r#""number *** [K""#);
}

#[test]
fn secrets_leave_the_data_of_an_answer_and_nothing_else_does() {
    let mut known = known(&["sk_test_81Hq7Zr2"]);
    known.hide("jane@payer.example");
    assert_eq!(known.without_secrets("x sk_test_81Hq7Zr2 y").as_deref(), Some("x *** y"));
    assert_eq!(known.without_secrets("jane@payer.example"), None);
}

proptest! {
    #[test]
    fn cleaning_twice_is_cleaning_once(text in "([0-9a-zA-Z%\\\\&#;u*… .-]|\\PC){0,400}") {
        let once = cleaned(&text, &[]);
        prop_assert_eq!(cleaned(&once, &[]), once);
    }

    #[test]
    fn no_neighbour_saves_a_known_number(before in "\\PC{0,20}", after in "\\PC{0,20}") {
        let told = cleaned(&format!("{before}8675309042{after}"), &["8675309042"]);
        prop_assert!(!told.contains("8675309042"), "{}", told);
    }
}
