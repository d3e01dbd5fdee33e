//! Laws of card numbers.

use proptest::prelude::*;

use crate::base::account_number::*;

fn refused(text: &str) -> CardNumberError {
    check_card_number(text).unwrap_err()
}

#[test]
fn spaces_and_dashes_may_divide_a_number() {
    for text in ["4242424242424242", "4242 4242 4242 4242", "4242-4242-4242-4242"] {
        assert_eq!(check_card_number(text), Ok(()));
    }
}

#[test]
fn each_fault_has_its_own_error() {
    assert_eq!(refused(" - "), CardNumberError::Blank);
    assert_eq!(refused("4242x4242424242424"), CardNumberError::Character);
    assert_eq!(refused("4242424242４242424"), CardNumberError::Character);
    assert_eq!(refused("42424242424"), CardNumberError::Length { digits: 11 });
    assert_eq!(refused(&"0".repeat(20)), CardNumberError::Length { digits: 20 });
    assert_eq!(refused("4242424242424241"), CardNumberError::CheckDigit);
    assert!(check_card_number("000000000000").is_ok());
}

#[test]
fn published_test_numbers_are_well_formed_but_for_the_one_that_is_not() {
    let wrong: Vec<&str> = PUBLISHED_TEST_NUMBERS
        .split(' ')
        .filter(|number| check_card_number(number).is_err())
        .collect();
    assert_eq!(wrong, ["4242424242424241"]);
    assert!(is_published_test_number("4000 0000 0000 0002"));
    assert!(!is_published_test_number("4000000000000200"));
}

/// service-facts, part 3.
#[test]
fn published_test_numbers_have_their_published_brands() {
    for (brand, numbers) in [
        ("VISA", "4242424242424242 4012888888881881 4012000010000 4111111111111111"),
        ("MASTERCARD", "5105105105105100 5499740000000057 2223003122003222"),
        ("AMERICAN_EXPRESS", "378282246310005 371449635398431"),
        ("DISCOVER", "6011111111111117 6011000990139424"),
        ("DINERS_CLUB", "30569309025904 38520000023237"),
        ("JCB", "3530111333300000 3566002020360505"),
        ("UNKNOWN", "000000000000 9792020000000001"),
    ] {
        for number in numbers.split(' ') {
            assert_eq!(Brand::of(number).to_string(), brand, "{number}");
            let json = serde_json::to_string(&Brand::of(number)).unwrap();
            assert_eq!(json, format!("\"{brand}\""));
        }
    }
}

#[test]
fn masks_keep_the_length_and_the_last_digits_only() {
    assert_eq!(mask_account("378282246310005"), "***********0005");
    assert_eq!(mask_routing("000000013"), "******013");
    assert_eq!(mask_account("12345"), "*2345");
    assert_eq!(mask_account("1234"), "****");
}

proptest! {
    #[test]
    fn one_wrong_digit_is_always_noticed(at in 0_usize..16, wrong in b'0'..=b'9') {
        let mut bytes = b"4012888888881881".to_vec();
        prop_assume!(bytes[at] != wrong);
        bytes[at] = wrong;
        let text = String::from_utf8(bytes).unwrap();
        prop_assert_eq!(check_card_number(&text), Err(CardNumberError::CheckDigit));
    }
}
