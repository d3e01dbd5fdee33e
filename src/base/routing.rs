//! Bank routing numbers of the American Bankers Association: nine digits, the last of which checks
//! the others.

pub const ROUTING_DIGITS: usize = 9;

const WEIGHTS: [u32; ROUTING_DIGITS] = [3, 7, 1, 3, 7, 1, 3, 7, 1];

/// Routing numbers that the service publishes for tests; 000000001 fails on purpose (service-facts,
/// part 3).
const PUBLISHED_TEST_NUMBERS: [&str; 4] = ["000000000", "000000013", "000000001", "111000025"];

/// Reasons why a text is no routing number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RoutingNumberError {
    #[error("the routing number is not nine digits")]
    Shape,
    /// The last digit does not fit the others (weights 3, 7, 1).
    #[error("the routing number has a wrong digit: its check digit does not fit")]
    CheckDigit,
}

/// A routing number whose check digit fits. It names a bank, not a person: not secret, but masked
/// in answers (see [`crate::base::card::mask_routing`]).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RoutingNumber(String);

impl RoutingNumber {
    /// Reads nine digits. Published test numbers need not pass: ask [`is_published_test_routing`]
    /// first.
    ///
    /// # Errors
    /// Every [`RoutingNumberError`].
    pub fn parse(text: &str) -> Result<Self, RoutingNumberError> {
        let digits: Option<Vec<u32>> = text.chars().map(|c| c.to_digit(10)).collect();
        let digits = digits
            .filter(|digits| digits.len() == ROUTING_DIGITS)
            .ok_or(RoutingNumberError::Shape)?;
        let weighted =
            digits.iter().zip(WEIGHTS).map(|(digit, weight)| digit.saturating_mul(weight));
        if weighted.sum::<u32>().is_multiple_of(10) {
            Ok(Self(text.to_owned()))
        } else {
            Err(RoutingNumberError::CheckDigit)
        }
    }

    /// Returns the nine digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::str::FromStr for RoutingNumber {
    type Err = RoutingNumberError;

    fn from_str(text: &str) -> Result<Self, RoutingNumberError> {
        Self::parse(text)
    }
}

/// Returns whether a text is a routing number that the service publishes for tests (service-facts,
/// part 3).
pub fn is_published_test_routing(text: &str) -> bool {
    PUBLISHED_TEST_NUMBERS.contains(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fitting_check_digit_is_accepted_and_another_refused() {
        for good in ["111000025", "021000021", "011401533", "000000000", "000000013"] {
            assert_eq!(RoutingNumber::parse(good).unwrap().as_str(), good);
        }
        for bad in ["111000026", "121000021", "000000001"] {
            assert_eq!(RoutingNumber::parse(bad), Err(RoutingNumberError::CheckDigit), "{bad}");
        }
    }

    #[test]
    fn anything_but_nine_digits_is_refused() {
        for bad in ["", "11100002", "1110000250", "11100002x", "111 00025", "١١١٠٠٠٠٢٥"] {
            assert_eq!(RoutingNumber::parse(bad), Err(RoutingNumberError::Shape), "{bad}");
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
