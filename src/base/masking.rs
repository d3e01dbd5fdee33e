//! Masking of long numbers in texts: card numbers that pass the check digit in our own texts, and
//! every long number, such as an account, a tax id or a telephone number, in a foreign text.
//!
//! Our own texts: masks any 12 to 19 digits that pass Luhn and adjoin, or form whole groups divided
//! by up to three spaces and dashes. More groups of digits (an expiry, a telephone number) may
//! follow or precede. No other text is changed. One in ten long numbers passes Luhn by chance.
//!
//! Foreign texts: hides seven or more digits that only blanks, dashes, dots and the like divide,
//! and twelve or more that any short gap without letters divides. Dates (`2026-11-30`) stay.

/// Fewest digits of an account number or a tax id.
const ACCOUNT_DIGITS_MIN: usize = 7;
/// Fewest digits of a card number (service-facts, 31).
const CARD_DIGITS_MIN: usize = 12;
const CARD_DIGITS_MAX: usize = 19;
/// Longest gap within a number, in characters.
const GAP_MAX: usize = 3;
const SHOWN_DIGITS: usize = 4;

/// One unbroken run of digits: byte offsets in the text.
#[derive(Clone, Copy)]
struct DigitGroup {
    start: usize,
    end: usize,
}

/// Neighbouring groups that hold card numbers: their indices, counted from 0, both included.
struct DigitSpan {
    first: usize,
    last: usize,
}

/// Replaces every number that looks like a card's by `•••• ` and its last four digits.
pub fn mask_digits(text: &str) -> String {
    masked(text).unwrap_or_else(|| text.to_owned())
}

/// Returns a text with its card numbers masked; `None` if it holds none.
pub fn masked(text: &str) -> Option<String> {
    if text.bytes().filter(u8::is_ascii_digit).count() < CARD_DIGITS_MIN {
        return None;
    }
    let groups = groups(text);
    let spans = spans(text, &groups);
    if spans.is_empty() {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for DigitSpan { first, last } in spans {
        let (Some(first), Some(last)) = (groups.get(first), groups.get(last)) else { continue };
        out.push_str(text.get(copied..first.start).unwrap_or_default());
        out.push_str("•••• ");
        out.push_str(&last_digits(text.get(first.start..last.end).unwrap_or_default()));
        copied = last.end;
    }
    out.push_str(text.get(copied..).unwrap_or_default());
    Some(out)
}

/// Returns whether a word can only be an account number: at least seven digits, no letters.
pub fn is_number(word: &str) -> bool {
    let digits = word.chars().filter(char::is_ascii_digit).count();
    digits >= ACCOUNT_DIGITS_MIN && word.chars().all(|c| !c.is_alphabetic())
}

/// Returns the last four digits of a masked piece, without its gaps.
fn last_digits(piece: &str) -> String {
    let digits: String = piece.chars().filter(char::is_ascii_digit).collect();
    digits.get(digits.len().saturating_sub(SHOWN_DIGITS)..).unwrap_or_default().to_owned()
}

fn groups(text: &str) -> Vec<DigitGroup> {
    let mut groups: Vec<DigitGroup> = Vec::new();
    for (at, _) in text.bytes().enumerate().filter(|(_, byte)| byte.is_ascii_digit()) {
        let end = at.saturating_add(1);
        match groups.last_mut() {
            Some(group) if group.end == at => group.end = end,
            _ => groups.push(DigitGroup { start: at, end }),
        }
    }
    groups
}

/// Returns every group that is part of some card number. Numbers that overlap become one span,
/// because the true one among them cannot be known.
fn spans(text: &str, groups: &[DigitGroup]) -> Vec<DigitSpan> {
    let mut spans: Vec<DigitSpan> = Vec::new();
    for first in 0..groups.len() {
        let rest = groups.get(first..).unwrap_or_default();
        let start = rest.first().map_or(0, |group| group.start);
        let Some(count) = card_length(text, ("", start), rest) else { continue };
        let last = first.saturating_add(count).saturating_sub(1);
        match spans.last_mut() {
            Some(span) if span.last >= first => span.last = span.last.max(last),
            _ => spans.push(DigitSpan { first, last }),
        }
    }
    let mut next = groups.len();
    for span in spans.iter_mut().rev() {
        extend_span(text, groups.get(..next).unwrap_or_default(), span);
        next = span.first;
    }
    spans
}

/// Extends a span while its last four digits, which stay visible, look like a card number together
/// with the groups behind them. Without this, masking a masked text again would change it.
fn extend_span(text: &str, groups: &[DigitGroup], span: &mut DigitSpan) {
    while let (Some(first), Some(last)) = (groups.get(span.first), groups.get(span.last)) {
        let shown = last_digits(text.get(first.start..last.end).unwrap_or_default());
        let rest = groups.get(span.last.saturating_add(1)..).unwrap_or_default();
        let Some(count) = card_length(text, (&shown, last.end), rest) else { return };
        span.last = span.last.saturating_add(count);
    }
}

/// Returns the number of groups of the longest card number, which begins with `begun`, up to `end`.
fn card_length(
    text: &str,
    (begun, mut end): (&str, usize),
    groups: &[DigitGroup],
) -> Option<usize> {
    let mut digits = begun.to_owned();
    let mut found = None;
    for (count, group) in (1..).zip(groups) {
        digits.push_str(text.get(group.start..group.end)?);
        if digits.len() > CARD_DIGITS_MAX || !is_gap(text, end, group.start) {
            break;
        }
        if digits.len() >= CARD_DIGITS_MIN && luhn3::decimal::valid(digits.as_bytes()) {
            found = Some(count);
        }
        end = group.end;
    }
    found
}

fn is_gap(text: &str, from: usize, to: usize) -> bool {
    text.get(from..to).is_some_and(|gap| {
        gap.len() <= GAP_MAX && gap.bytes().all(|byte| byte == b' ' || byte == b'-')
    })
}

/// Replaces an invalid place, and a removed value.
pub(crate) const HIDDEN: &str = "***";
const DATE_LENGTH: usize = 10;

pub(crate) fn mark_numbers(text: &[char], hidden: &mut [bool]) {
    let mut at = 0;
    while at < text.len() {
        let Some(rest) = text.get(at..) else { return };
        if !rest.first().is_some_and(|c| c.is_numeric()) {
            at = at.saturating_add(1);
        } else if is_date(rest) {
            at = at.saturating_add(DATE_LENGTH);
        } else {
            let account = measure_run(rest, |c| c.is_whitespace() || "-._/+–—·•'".contains(c));
            let card = measure_run(rest, |c| !c.is_alphanumeric() && c != '*');
            let is_card = card.digits >= CARD_DIGITS_MIN;
            let end = at.saturating_add(if is_card { card.length } else { account.length });
            if is_card || account.digits >= ACCOUNT_DIGITS_MIN {
                hide(hidden, at, end);
            }
            at = end;
        }
    }
}

/// A number with its gaps: its digits and its length, in characters.
struct DigitRun {
    digits: usize,
    length: usize,
}

fn measure_run(text: &[char], divides: fn(char) -> bool) -> DigitRun {
    let mut run = DigitRun { digits: 0, length: 0 };
    for (at, c) in text.iter().enumerate() {
        let gap = at.saturating_sub(run.length);
        if c.is_numeric() && !(gap > 0 && text.get(at..).is_some_and(is_date)) {
            run.digits = run.digits.saturating_add(1);
            run.length = at.saturating_add(1);
        } else if !divides(*c) || gap >= GAP_MAX {
            break;
        }
    }
    run
}

/// Returns whether the text begins with a date, and not with a longer number that resembles one.
fn is_date(text: &[char]) -> bool {
    let Some((date, rest)) = text.split_at_checked(DATE_LENGTH) else { return false };
    let fits = (0..).zip(date).all(|(at, c)| match at {
        4 | 7 => *c == '-',
        _ => c.is_ascii_digit(),
    });
    let date: String = date.iter().collect();
    let ends = !rest.first().is_some_and(|c| c.is_numeric() || *c == '-');
    fits && ends && date.starts_with(['1', '2']) && date.parse::<chrono::NaiveDate>().is_ok()
}

pub(crate) fn hide(hidden: &mut [bool], start: usize, end: usize) {
    if let Some(piece) = hidden.get_mut(start..end) {
        piece.fill(true);
    }
}

/// Yields the visible characters, each hidden group written as one [`HIDDEN`].
pub(crate) fn render_masked<'a>(
    text: &'a [char],
    hidden: &'a [bool],
) -> impl Iterator<Item = char> + 'a {
    let before = std::iter::once(false).chain(hidden.iter().copied());
    let pieces = text.iter().zip(hidden).zip(before);
    pieces.flat_map(|((shown, hidden), before)| match (*hidden, before) {
        (true, true) => Vec::new(),
        (true, false) => HIDDEN.chars().collect(),
        (false, _) => vec![*shown],
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

    /// The four visible digits of a masked number and the digits behind them look like another
    /// number here.
    #[test]
    fn a_masked_text_is_not_masked_once_more() {
        let text = "01-0{8888888888880-08888881-0T";
        let masked = mask_digits(text);
        assert_ne!(masked, text);
        assert_eq!(mask_digits(&masked), masked);
    }

    #[test]
    fn other_numbers_stay() {
        for text in ["", "125.00", "4242424242424241", "2026-11-30 12:00:00.123Z", "79927398713"] {
            check(text, text);
        }
        check("4242.4242.4242.4242", "4242.4242.4242.4242");
        check(&"0".repeat(20), &"0".repeat(20));
    }

    #[test]
    fn a_word_without_letters_and_with_many_digits_is_a_number() {
        for number in
            ["4012000010000", "4012 0000 1000-0", "99887766", "9.988.776", "٤012000010000"]
        {
            assert!(is_number(number), "{number}");
        }
        for word in ["", "jane", "jane-2030-01-15", "123456", "card_0000000000000000000001"] {
            assert!(!is_number(word), "{word}");
        }
    }

    proptest! {
        #[test]
        fn no_neighbouring_digits_save_a_card_number(
            before in "[02-9 ]{0,24}",
            after in "[02-9 ]{0,24}",
        ) {
            let masked = mask_digits(&format!("{before} 4111 1111 1111 1111 {after}"));
            prop_assert!(!masked.contains("1111 1111"), "{}", masked);
            prop_assert!(!masked.contains("4111"), "{}", masked);
        }

        #[test]
        fn a_mask_is_stable(text in "([0-9]{1,14}[ -]{0,4}){0,12}") {
            let masked = mask_digits(&text);
            prop_assert_eq!(mask_digits(&masked), masked);
        }

        #[test]
        fn text_without_long_numbers_stays(text in "([0-9]{0,11}[a-z•é.])*") {
            prop_assert_eq!(mask_digits(&text), text);
        }
    }
}
