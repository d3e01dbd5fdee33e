//! Numbers of cards and banks: parsing, check digits, brands and masks.
//!
//! A card number is a secret from the moment it is read: no error and no `Debug` shows a digit of
//! it. Only the service's published test numbers may be written in the open. A routing number names
//! a bank and is no secret.

use serde::{Deserialize, Serialize};

use crate::base::secret::Secret;

/// Fewest digits of a card number (service-facts, 31).
pub const CARD_DIGITS_MIN: usize = 12;
/// Most digits of a card number (service-facts, 31).
pub const CARD_DIGITS_MAX: usize = 19;
const VISIBLE_ACCOUNT_DIGITS: usize = 4;
const VISIBLE_ROUTING_DIGITS: usize = 3;

/// The test numbers that the service publishes, the declining ones included (service-facts, part 3).
const PUBLISHED_TEST_NUMBERS: &str = "\
    4242424242424242 4012888888881881 4012000010000 4111111111111111 5105105105105100 \
    5499740000000057 378282246310005 371449635398431 6011111111111117 6011000990139424 \
    30569309025904 38520000023237 3530111333300000 3566002020360505 4000000000000002 \
    4000000000000010 4000000000000028 4000000000000036 4000000000000044 4000000000000051 \
    4000000000000069 4000000000000077 4000000000000085 4000000000000093 4000000000000101 \
    4000000000000119 4000000000000127 4000000000000135 4242424242424241";

/// Reasons why a text is no card number; none shows a digit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CardNumberError {
    #[error("the card number is blank")]
    Blank,
    #[error("the card number holds something other than digits, spaces and dashes")]
    Character,
    #[error(
        "the card number has {digits} digits; it must have {min} to {max}",
        min = CARD_DIGITS_MIN,
        max = CARD_DIGITS_MAX
    )]
    Length { digits: usize },
    /// The last digit does not fit the others (Luhn).
    #[error("the card number has a wrong digit: its check digit does not fit")]
    CheckDigit,
}

/// Brand of a card, in the service's words (service-facts, 29).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[derive(derive_more::Display)]
#[display("{}", self.as_str())]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Brand {
    Visa,
    Mastercard,
    AmericanExpress,
    Discover,
    DinersClub,
    Jcb,
    Unknown,
}

impl Brand {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Visa => "VISA",
            Self::Mastercard => "MASTERCARD",
            Self::AmericanExpress => "AMERICAN_EXPRESS",
            Self::Discover => "DISCOVER",
            Self::DinersClub => "DINERS_CLUB",
            Self::Jcb => "JCB",
            Self::Unknown => "UNKNOWN",
        }
    }

    /// Returns the brand by the first digits (ISO/IEC 7812 ranges), even of an incomplete number.
    pub fn of(number: &str) -> Self {
        let mut digits = number.chars().filter_map(|c| c.to_digit(10)).chain(std::iter::repeat(0));
        let head = digits
            .by_ref()
            .take(6)
            .fold(0_u32, |head, digit| head.saturating_mul(10).saturating_add(digit));
        match head {
            400_000..=499_999 => Self::Visa,
            510_000..=559_999 | 222_100..=272_099 => Self::Mastercard,
            340_000..=349_999 | 370_000..=379_999 => Self::AmericanExpress,
            352_800..=358_999 => Self::Jcb,
            300_000..=305_999 | 309_500..=309_599 | 360_000..=369_999 | 380_000..=399_999 => {
                Self::DinersClub
            }
            601_100..=601_199 | 622_126..=622_925 | 644_000..=659_999 => Self::Discover,
            _ => Self::Unknown,
        }
    }
}

/// Checks a card number: 12 to 19 digits with a fitting check digit. Spaces and dashes may divide it.
pub fn check_card_number(text: &str) -> Result<(), CardNumberError> {
    let secret = Secret::from(without_separators(text));
    let digits = secret.expose();
    if digits.is_empty() {
        return Err(CardNumberError::Blank);
    }
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(CardNumberError::Character);
    }
    if !(CARD_DIGITS_MIN..=CARD_DIGITS_MAX).contains(&digits.len()) {
        return Err(CardNumberError::Length { digits: digits.len() });
    }
    if !luhn3::decimal::valid(digits.as_bytes()) {
        return Err(CardNumberError::CheckDigit);
    }
    Ok(())
}

fn without_separators(text: &str) -> String {
    let mut digits = String::with_capacity(text.len());
    digits.extend(text.chars().filter(|c| *c != ' ' && *c != '-'));
    digits
}

/// Returns whether a text is one of the service's published test numbers (service-facts, part 3).
/// Spaces and dashes may divide it. One fails Luhn on purpose: ask before [`check_card_number`].
pub fn is_published_test_number(text: &str) -> bool {
    let number = without_separators(text);
    PUBLISHED_TEST_NUMBERS.split(' ').any(|published| published == number)
}

/// Returns asterisks for all but the last four characters, same length (service-facts, 27).
pub fn mask_account(number: &str) -> String {
    mask_all_but(number, VISIBLE_ACCOUNT_DIGITS)
}

/// Returns asterisks for all but the last three characters: `******013` (service-facts, 27).
pub fn mask_routing(number: &str) -> String {
    mask_all_but(number, VISIBLE_ROUTING_DIGITS)
}

/// Masks all but the last `shown` characters; hides a text of at most that length entirely.
fn mask_all_but(number: &str, shown: usize) -> String {
    let length = number.chars().count();
    let hidden = if length > shown { length.saturating_sub(shown) } else { length };
    std::iter::repeat_n('*', hidden).chain(number.chars().skip(hidden)).collect()
}

pub const ROUTING_DIGITS: usize = 9;

const WEIGHTS: [u32; ROUTING_DIGITS] = [3, 7, 1, 3, 7, 1, 3, 7, 1];

/// Published test numbers; 000000001 fails on purpose (service-facts, part 3).
const PUBLISHED_TEST_ROUTINGS: [&str; 4] = ["000000000", "000000013", "000000001", "111000025"];

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RoutingNumberError {
    #[error("the routing number is not nine digits")]
    Shape,
    /// The last digit does not fit the others (weights 3, 7, 1).
    #[error("the routing number has a wrong digit: its check digit does not fit")]
    CheckDigit,
}

/// Checks a routing number: nine digits with a fitting check digit. Published test numbers need not
/// pass: ask [`is_published_test_routing`] first.
pub fn check_routing_number(text: &str) -> Result<(), RoutingNumberError> {
    let digits: Option<Vec<u32>> = text.chars().map(|c| c.to_digit(10)).collect();
    let digits = digits.filter(|digits| digits.len() == ROUTING_DIGITS);
    let digits = digits.ok_or(RoutingNumberError::Shape)?;
    let weighted = digits.iter().zip(WEIGHTS).map(|(digit, weight)| digit.saturating_mul(weight));
    let fits = weighted.sum::<u32>().is_multiple_of(10);
    if fits { Ok(()) } else { Err(RoutingNumberError::CheckDigit) }
}

/// Returns whether the service publishes a routing number for tests (service-facts, part 3).
pub fn is_published_test_routing(text: &str) -> bool {
    PUBLISHED_TEST_ROUTINGS.contains(&text)
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod routing_tests {
    use super::*;

    #[test]
    fn a_fitting_check_digit_is_accepted_and_another_refused() {
        for good in ["111000025", "021000021", "011401533", "000000000", "000000013"] {
            assert_eq!(check_routing_number(good), Ok(()));
        }
        for bad in ["111000026", "121000021", "000000001"] {
            assert_eq!(check_routing_number(bad), Err(RoutingNumberError::CheckDigit), "{bad}");
        }
    }

    #[test]
    fn anything_but_nine_digits_is_refused() {
        for bad in ["", "11100002", "1110000250", "11100002x", "111 00025", "١١١٠٠٠٠٢٥"] {
            assert_eq!(check_routing_number(bad), Err(RoutingNumberError::Shape), "{bad}");
        }
    }

    #[test]
    fn published_test_numbers_are_known_whether_or_not_they_fit() {
        for number in ["000000000", "000000013", "000000001", "111000025"] {
            assert!(is_published_test_routing(number));
        }
        assert!(!is_published_test_routing("021000021"));
    }
}
