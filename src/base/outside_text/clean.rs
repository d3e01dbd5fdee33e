//! Cleaning of a foreign text: decoded, known values and long numbers removed, bounded.

use super::{HIDDEN, KnownValues, decode, digits};

/// Characters of a foreign text that are examined; the rest is dropped unseen.
const WINDOW_CHARACTERS: usize = 8192;
/// Characters dropped at the end of the window of a cut text: a value may have been cut in two
/// there.
const MARGIN_CHARACTERS: usize = 1024;
/// Longer unbroken runs of letters and digits count as an encoded value.
const OPAQUE_MIN: usize = 48;

/// Cleans a foreign text; the result has at most `most` characters.
pub(super) fn clean(foreign: &str, known: &KnownValues, most: usize) -> String {
    let window: String = foreign.chars().take(WINDOW_CHARACTERS).collect();
    let is_cut = window.len() < foreign.len();
    let mut text: Vec<char> = decode::decode(&window).chars().collect();
    let mut hidden = vec![false; text.len()];
    known.mark(&text, &mut hidden);
    digits::mark(&text, &mut hidden);
    mark_opaque(&text, &mut hidden);
    let margin = if is_cut { MARGIN_CHARACTERS } else { 0 };
    let shown = text.len().saturating_sub(margin);
    text.truncate(shown);
    truncate(render_masked(&text, &hidden), is_cut, most)
}

/// Yields the visible characters, each hidden group written as one [`HIDDEN`].
pub(super) fn render_masked<'a>(
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

/// Limits the text to `most` characters; an ellipsis marks a cut.
fn truncate(mut text: impl Iterator<Item = char>, is_cut: bool, most: usize) -> String {
    let mut kept: String = text.by_ref().take(most).collect();
    if text.next().is_some() || is_cut {
        kept = kept.chars().take(most.saturating_sub(1)).collect();
        kept.push('…');
    }
    kept.trim_end().to_owned()
}

/// Hides long unbroken runs of the characters of base64 and hex.
fn mark_opaque(text: &[char], hidden: &mut [bool]) {
    let mut start = 0;
    for end in 0..=text.len() {
        let goes_on = text.get(end).is_some_and(|c| is_of_base64(*c));
        if goes_on {
            continue;
        }
        if end.saturating_sub(start) > OPAQUE_MIN {
            hide(hidden, start, end);
        }
        start = end.saturating_add(1);
    }
}

fn is_of_base64(c: char) -> bool {
    c.is_ascii_alphanumeric() || "+/=_-".contains(c)
}

/// Hides the characters from `start` to before `end`.
pub(super) fn hide(hidden: &mut [bool], start: usize, end: usize) {
    if let Some(piece) = hidden.get_mut(start..end) {
        piece.fill(true);
    }
}
