//! Card numbers that slipped into a text which people see: found by the check digit, masked.
//!
//! Promises: any 12 to 19 digits that pass Luhn and stand together, or in whole groups divided by up to three
//! spaces and dashes, are gone, also where more groups of digits (an expiry, a telephone number) follow or
//! precede. Never touches anything else. One in ten long numbers passes Luhn by chance: that is the price.

const CARD_DIGITS_MIN: usize = 12;
const CARD_DIGITS_MAX: usize = 19;
const GAP_MAX: usize = 3;
const SHOWN_DIGITS: usize = 4;

/// One unbroken run of digits: byte offsets in the text.
#[derive(Clone, Copy)]
struct Group {
    start: usize,
    end: usize,
}

/// Replaces every number that looks like a card's by `•••• ` and its last four digits.
pub fn mask_digits(text: &str) -> String {
    let groups = groups(text);
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    let mut rest = groups.as_slice();
    while let Some((first, after)) = rest.split_first() {
        let Some((taken, end, last_digits)) = card_at(text, rest) else {
            rest = after;
            continue;
        };
        out.push_str(text.get(copied..first.start).unwrap_or_default());
        out.push_str("•••• ");
        out.push_str(&last_digits);
        copied = end;
        rest = rest.get(taken..).unwrap_or_default();
    }
    out.push_str(text.get(copied..).unwrap_or_default());
    out
}

fn groups(text: &str) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (at, byte) in text
        .bytes()
        .enumerate()
        .filter(|(_, byte)| byte.is_ascii_digit())
    {
        debug_assert!(byte.is_ascii());
        let end = at.saturating_add(1);
        match groups.last_mut() {
            Some(group) if group.end == at => group.end = end,
            _ => groups.push(Group { start: at, end }),
        }
    }
    groups
}

/// The longest card number made of whole groups from the first on: how many groups, where it ends, its last digits.
fn card_at(text: &str, groups: &[Group]) -> Option<(usize, usize, String)> {
    let mut digits = String::new();
    let mut found = None;
    let mut previous: Option<Group> = None;
    for (index, group) in groups.iter().enumerate() {
        if previous.is_some_and(|before| !is_gap(text, before.end, group.start)) {
            break;
        }
        digits.push_str(text.get(group.start..group.end)?);
        if digits.len() > CARD_DIGITS_MAX {
            break;
        }
        if digits.len() >= CARD_DIGITS_MIN && luhn3::decimal::valid(digits.as_bytes()) {
            let (_, shown) = digits.split_at_checked(digits.len().saturating_sub(SHOWN_DIGITS))?;
            found = Some((index.saturating_add(1), group.end, shown.to_owned()));
        }
        previous = Some(*group);
    }
    found
}

fn is_gap(text: &str, from: usize, to: usize) -> bool {
    text.get(from..to).is_some_and(|gap| {
        gap.len() <= GAP_MAX && gap.bytes().all(|byte| byte == b' ' || byte == b'-')
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expect: &str) {
        assert_eq!(mask_digits(text), expect);
    }

    #[test]
    fn a_card_number_is_masked_however_it_is_grouped() {
        check("card 4242424242424242.", "card •••• 4242.");
        check("4242 4242 4242 4242", "•••• 4242");
        check("3714-496353-98431!", "•••• 8431!");
        check("n4012000010000n", "n•••• 0000n");
        check("é4242424242424242é", "é•••• 4242é");
    }

    #[test]
    fn an_expiry_or_another_number_beside_it_does_not_save_it() {
        check("4242 4242 4242 4242 12/27", "•••• 4242 12/27");
        check("7 4242424242424242 123", "7 •••• 4242 123");
        check("4242424242424242,4111111111111111", "•••• 4242,•••• 1111");
    }

    #[test]
    fn other_numbers_stay() {
        for text in [
            "",
            "125.00",
            "4242424242424241",
            "2026-11-30 12:00:00.123Z",
            "79927398713",
        ] {
            check(text, text);
        }
        check("4242.4242.4242.4242", "4242.4242.4242.4242");
        check(&"0".repeat(20), &"0".repeat(20));
    }

    proptest! {
        #[test]
        fn masking_twice_changes_nothing_more_and_digits_outside_stay(text in "[0-9 \\-a•é]{0,60}") {
            let once = mask_digits(&text);
            prop_assert_eq!(mask_digits(&once), once.clone());
        }
    }
}
