//! Masking of a foreign text: hidden characters, and the long numbers among them, such as cards,
//! accounts, tax ids and telephone numbers.
//!
//! Hides seven or more digits that only blanks, dashes, dots and the like divide, and twelve or
//! more that any short gap without letters divides. Dates (`2026-11-30`) stay.

/// Replaces an invalid place, and a removed value.
pub(super) const HIDDEN: &str = "***";
/// Fewest digits of an account number or a tax id.
const ACCOUNT_DIGITS_MIN: usize = 7;
/// Fewest digits of a card number (service-facts, 31).
const CARD_DIGITS_MIN: usize = 12;
/// Longest gap within a number, in characters.
const GAP_MAX: usize = 3;
/// Length of a date, in characters.
const DATE_LENGTH: usize = 10;

/// Hides every long number.
pub(super) fn mark(text: &[char], hidden: &mut [bool]) {
    let mut at = 0;
    while at < text.len() {
        let Some(rest) = text.get(at..) else { return };
        if !rest.first().is_some_and(|c| c.is_numeric()) {
            at = at.saturating_add(1);
        } else if is_date(rest) {
            at = at.saturating_add(DATE_LENGTH);
        } else {
            let account = measure_run(rest, is_plain_gap);
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

/// Measures the number at the start of a text.
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

fn is_plain_gap(c: char) -> bool {
    c.is_whitespace() || "-._/+–—·•'".contains(c)
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

/// Hides the characters from `start` to before `end`.
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
