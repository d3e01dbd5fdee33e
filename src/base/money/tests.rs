//! Laws of money.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn money(text: &str) -> Money {
    text.parse().unwrap()
}

fn refused(text: &str) -> MoneyError {
    text.parse::<Money>().unwrap_err()
}

#[test]
fn an_amount_is_read_exactly_with_the_decimals_of_its_currency() {
    for (text, minor, printed) in [
        ("125.00 USD", 12_500, "125.00 USD"),
        ("125 USD", 12_500, "125.00 USD"),
        ("0.5 USD", 50, "0.50 USD"),
        ("-0.05 USD", -5, "-0.05 USD"),
        ("125 JPY", 125, "125 JPY"),
        ("1.234 KWD", 1_234, "1.234 KWD"),
        ("999999999999.99 USD", AMOUNT_MAX, "999999999999.99 USD"),
    ] {
        assert_eq!(money(text).minor(), minor, "{text}");
        assert_eq!(money(text).to_string(), printed);
    }
}

#[test]
fn what_is_no_plain_decimal_is_refused() {
    for text in [
        "",
        "USD",
        "USD 125.00",
        "$125.00",
        "$125 USD",
        "1e3 USD",
        "+1 USD",
        "1. USD",
        ".5 USD",
        "- USD",
        "1,000 USD",
        "1.0.0 USD",
        "--1 USD",
        "٣ USD",
        "0x1 USD",
    ] {
        assert!(matches!(refused(text), MoneyError::NotANumber { .. }), "{text}");
    }
}

#[test]
fn more_decimals_than_the_currency_has_are_refused_not_rounded() {
    for text in ["1.000 USD", "1.0 JPY", "0.12345 KWD"] {
        assert!(matches!(refused(text), MoneyError::TooManyDecimals { .. }), "{text}");
    }
}

#[test]
fn amounts_beyond_the_limit_of_the_service_are_refused() {
    for text in ["1000000000000.00 USD", "-1000000000000.00 USD", "99999999999999999999999 USD"] {
        assert_eq!(refused(text), MoneyError::OutOfRange);
    }
}

#[test]
fn an_amount_without_a_currency_is_refused_with_both_readings() {
    for (text, readings) in [
        ("125", "`\"125.00 USD\"` or `\"1.25 USD\"`"),
        ("125.00", "`\"125.00 USD\"` or `\"1.25 USD\"`"),
        ("125.50", "`\"125.50 USD\"`"),
        ("125.555", "such as `USD`"),
    ] {
        let error = refused(text);
        assert!(matches!(error, MoneyError::MissingCurrency { .. }), "{text}");
        assert!(error.to_string().contains(readings), "{error}");
    }
}

#[test]
fn an_unknown_currency_names_the_nearest_one() {
    for (code, nearest) in [("usd", "USD"), ("UDS", "USD"), ("USB", "USD"), ("EURO", "EUR")] {
        let error = refused(&format!("1.00 {code}"));
        let nearest = Some(nearest.parse().unwrap());
        assert_eq!(error, MoneyError::UnknownCurrency { code: code.into(), nearest });
    }
    for code in ["XAU", "XXX", "XTS", "dollars", "USD USD"] {
        assert!(
            matches!(refused(&format!("1 {code}")), MoneyError::UnknownCurrency { .. }),
            "{code}"
        );
    }
}

/// ISO 4217, list one: every currency whose decimals are not two.
#[test]
fn decimals_are_those_of_iso_4217() {
    let zero = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF";
    let three = "BHD IQD JOD KWD LYD OMR TND";
    let code = |code: &str| code.parse::<Currency>().unwrap();
    assert!(zero.split(' ').all(|c| code(c).exponent() == 0));
    assert!(three.split(' ').all(|c| code(c).exponent() == 3));
    assert!("USD EUR GBP CAD AUD MGA MRU".split(' ').all(|c| code(c).exponent() == 2));
}

#[test]
fn sums_neither_mix_currencies_nor_wrap() {
    let (usd, eur) = (money("1.00 USD"), money("1.00 EUR"));
    assert_eq!(usd.checked_add(usd), Ok(money("2.00 USD")));
    assert_eq!(usd.checked_sub(money("1.50 USD")), Ok(money("-0.50 USD")));
    assert!(matches!(usd.checked_add(eur), Err(MoneyError::Mixed { .. })));
    assert!(matches!(usd.checked_sub(eur), Err(MoneyError::Mixed { .. })));
    let most = Money::new(i64::MAX, Currency::USD);
    assert_eq!(most.checked_add(usd), Err(MoneyError::OutOfRange));
    assert_eq!(Money::new(i64::MIN, Currency::USD).to_string(), "-92233720368547758.08 USD");
}

#[test]
fn money_in_json_is_minor_units_and_a_code() {
    let json = json!({"minor": 12_500, "currency": "USD"});
    assert_eq!(serde_json::to_value(money("125.00 USD")).unwrap(), json);
    assert_eq!(serde_json::from_value::<Money>(json).unwrap(), money("125.00 USD"));
    assert!(serde_json::from_value::<Money>(json!({"minor": 1, "currency": "usd"})).is_err());
    assert!(serde_json::from_value::<Money>(json!({"minor": "1", "currency": "USD"})).is_err());
}

proptest! {
    #[test]
    fn what_is_printed_reads_back(minor in -AMOUNT_MAX..=AMOUNT_MAX, code in "USD|JPY|KWD|CLF") {
        let amount = Money::new(minor, code.parse().unwrap());
        prop_assert_eq!(amount.to_string().parse::<Money>(), Ok(amount));
    }
}
