//! The values of a request that an answer must not repeat.

use std::fmt;

use data_encoding::{BASE64_NOPAD, HEXLOWER};
use zeroize::Zeroizing;

use super::decode::decode;
use super::masking::{hide, render_masked};

/// Longest gap between two characters of a value, in characters.
const GAP_MAX: usize = 3;
/// Shorter values are removed as whole words only.
const ANYWHERE_MIN: usize = 4;
/// Shorter values without a digit are removed as whole words only.
const LETTERS_MIN: usize = 8;
/// Shorter words of a name are left.
const WORD_MIN: usize = 3;
/// Values below this length may appear in the data of an answer by chance.
const SECRET_MIN: usize = 8;
/// Of longer values every piece is searched for, and the text behind one is hidden, too.
const LONG_MIN: usize = 256;
/// Length of such a piece.
const PIECE: usize = 16;
/// Maximum number of pieces of one value.
const PIECES_MAX: usize = 256;

/// The secret and personal values of a request. `Debug` shows only their number.
#[derive(Clone, Default)]
pub struct KnownValues(Vec<HiddenValue>);

/// One value in its search form: its letters and digits alone, in lower case.
#[derive(Clone)]
struct HiddenValue {
    form: Zeroizing<String>,
    /// The value counts only where no letter or digit adjoins it.
    is_word: bool,
    /// The text behind the value belongs to the same value.
    hides_rest: bool,
    /// The value must not appear in the data of an answer either.
    is_secret: bool,
}

impl KnownValues {
    /// Adds a value that no text from outside may repeat.
    pub fn hide(&mut self, value: &str) {
        self.add(value, false);
    }

    /// Adds the name of a person or a place: no word of it may be repeated.
    pub fn hide_words(&mut self, name: &str) {
        self.add(name, false);
        for word in name.split(|c: char| !c.is_alphanumeric()) {
            if word.chars().count() >= WORD_MIN {
                self.add(word, false);
            }
        }
    }

    /// Adds a secret: no data of an answer may repeat it either.
    pub fn hide_secret(&mut self, secret: &str) {
        self.add(secret, true);
    }

    /// Returns the text without its secrets, if it holds one.
    pub fn without_secrets(&self, text: &str) -> Option<String> {
        let mut secrets = self.0.iter().filter(|one| one.is_secret).peekable();
        secrets.peek()?;
        let text: Vec<char> = decode(text).chars().collect();
        let mut hidden = vec![false; text.len()];
        mark(secrets, &text, &mut hidden);
        hidden.contains(&true).then(|| render_masked(&text, &hidden).collect())
    }

    /// Returns the length of the shortest secret, in bytes; `None` without secrets.
    pub fn shortest_secret(&self) -> Option<usize> {
        self.0.iter().filter(|one| one.is_secret).map(|one| one.form.len()).min()
    }

    /// Hides every value.
    pub(super) fn mark(&self, text: &[char], hidden: &mut [bool]) {
        mark(self.0.iter(), text, hidden);
    }

    fn add(&mut self, value: &str, is_secret: bool) {
        let form = Skeleton::of(&value.chars().collect::<Vec<_>>()).text;
        let length = form.chars().count();
        if length < 2 {
            return;
        }
        if length >= LONG_MIN {
            return self.add_pieces(&form, is_secret);
        }
        let has_digit = form.chars().any(char::is_numeric);
        let is_word = length < ANYWHERE_MIN || (!has_digit && length < LETTERS_MIN);
        let is_secret = is_secret && length >= SECRET_MIN;
        let encodings = encodings(value).into_iter().filter(|_| length >= ANYWHERE_MIN);
        for (form, is_word) in encodings.map(|form| (form, false)).chain([(form, is_word)]) {
            self.0.push(HiddenValue {
                form: Zeroizing::new(form),
                is_word,
                hides_rest: false,
                is_secret,
            });
        }
    }

    fn add_pieces(&mut self, form: &str, is_secret: bool) {
        let characters: Vec<char> = form.chars().collect();
        for piece in characters.chunks_exact(PIECE).take(PIECES_MAX) {
            let form = Zeroizing::new(piece.iter().collect());
            self.0.push(HiddenValue { form, is_word: false, hides_rest: true, is_secret });
        }
    }
}

impl fmt::Debug for KnownValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Known({})", self.0.len())
    }
}

/// Returns the value in hex and, at each of its three offsets, in base64, as far as the value alone
/// decides the characters.
fn encodings(value: &str) -> Vec<String> {
    let skeleton = |text: &str| Skeleton::of(&text.chars().collect::<Vec<_>>()).text;
    let shifted = (0..3_usize).map(|before| {
        let bytes = [&vec![0; before], value.as_bytes()].concat();
        let text = BASE64_NOPAD.encode(&bytes);
        let first = before.saturating_mul(8).div_ceil(6);
        let whole = bytes.len().saturating_mul(8).checked_div(6).unwrap_or_default();
        text.get(first..whole).map(skeleton).unwrap_or_default()
    });
    let hex = HEXLOWER.encode(value.as_bytes());
    shifted.chain([hex]).filter(|form| form.len() >= ANYWHERE_MIN).collect()
}

/// The letters and digits of a text in lower case, each byte with the position of its character.
struct Skeleton {
    text: String,
    places: Vec<usize>,
}

impl Skeleton {
    fn of(text: &[char]) -> Self {
        let mut skeleton = Self { text: String::new(), places: Vec::new() };
        for (place, c) in text.iter().enumerate().filter(|(_, c)| c.is_alphanumeric()) {
            skeleton.text.extend(c.to_lowercase());
            skeleton.places.resize(skeleton.text.len(), place);
        }
        skeleton
    }
}

fn mark<'a>(values: impl Iterator<Item = &'a HiddenValue>, text: &[char], hidden: &mut [bool]) {
    let skeleton = Skeleton::of(text);
    for value in values {
        for (at, _) in skeleton.text.match_indices(value.form.as_str()) {
            let end = at.saturating_add(value.form.len());
            let Some(places) = skeleton.places.get(at..end) else { continue };
            let (Some(first), Some(last)) = (places.first(), places.last()) else { continue };
            let end = if value.hides_rest { text.len() } else { last.saturating_add(1) };
            if is_close(places) && (!value.is_word || is_whole_word(text, *first, *last)) {
                hide(hidden, *first, end);
            }
        }
    }
}

/// Returns whether only short gaps divide the characters.
fn is_close(places: &[usize]) -> bool {
    let gap = |pair: &[usize]| match pair {
        [one, next] => next.saturating_sub(*one).saturating_sub(1),
        _ => 0,
    };
    places.windows(2).all(|pair| gap(pair) <= GAP_MAX)
}

/// Returns whether no letter or digit adjoins a piece of text.
fn is_whole_word(text: &[char], first: usize, last: usize) -> bool {
    let is_part =
        |at: Option<usize>| at.and_then(|at| text.get(at)).is_some_and(|c| c.is_alphanumeric());
    !is_part(first.checked_sub(1)) && !is_part(last.checked_add(1))
}
