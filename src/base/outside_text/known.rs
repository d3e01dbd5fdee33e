//! Values of a request that an answer must not repeat, and the escapes that may hide them.
//!
//! Terminal control characters become a blank, and characters without width are dropped.

use std::iter::Peekable;
use std::str::Chars;

use data_encoding::{BASE64_NOPAD, HEXLOWER};
use zeroize::Zeroizing;

use crate::base::masking::{hide, render_masked};

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
#[derive(Clone, Default, derive_more::Debug)]
#[debug("Known({})", _0.len())]
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

/// Returns the value in hex and, at each of three offsets, in base64, as far as it alone decides.
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

/// Maximum layers of escapes that are decoded; deeper ones lose their escape characters.
const LAYERS_MAX: usize = 8;

/// Returns the text without escapes, control characters, and characters that turn or hide others.
pub(super) fn decode(text: &str) -> String {
    let mut text = without_controls(text);
    for _ in 0..LAYERS_MAX {
        let next = without_controls(&decode_layer(&text));
        if next == text {
            return text;
        }
        text = next;
    }
    without_controls(&text.replace(['%', '\\', '&'], " "))
}

/// Replaces runs of control characters and blanks by one blank; drops characters without width.
fn without_controls(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars().filter(|c| !is_invisible(*c)) {
        let is_blank = c.is_control() || c.is_whitespace();
        match (is_blank, out.ends_with(' ') || out.is_empty()) {
            (true, true) => {}
            (true, false) => out.push(' '),
            (false, _) => out.push(c),
        }
    }
    out.truncate(out.trim_end().len());
    out
}

/// Returns whether a character is invisible, or reorders later ones.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// Decodes one layer of escapes: `%34`, `\u0034`, `\x34`, `\n`, `&#52;`, `&#x34;`, `&amp;`.
fn decode_layer(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '%' => percent(&mut rest, &mut out),
            '\\' => backslash(&mut rest, &mut out),
            '&' => entity(&mut rest, &mut out),
            other => out.push(other),
        }
    }
    out
}

/// Decodes bytes as URLs write them; invalid UTF-8 becomes U+FFFD.
fn percent(rest: &mut Peekable<Chars<'_>>, out: &mut String) {
    let mut bytes = Vec::new();
    while let Some(byte) = hex(rest, 2).and_then(|byte| u8::try_from(byte).ok()) {
        bytes.push(byte);
        if rest.peek() != Some(&'%') || hex(&mut after(rest), 2).is_none() {
            break;
        }
        rest.next();
    }
    if bytes.is_empty() {
        out.push('%');
    }
    out.push_str(&String::from_utf8_lossy(&bytes));
}

/// Decodes a backslash escape of JSON and many languages.
fn backslash(rest: &mut Peekable<Chars<'_>>, out: &mut String) {
    let Some(sign) = rest.next() else { return };
    let code = match sign {
        'u' => hex(rest, 4),
        'x' => hex(rest, 2),
        'n' | 'r' | 't' | 'b' | 'f' => Some(u32::from(' ')),
        _ => None,
    };
    out.push(code.map_or(sign, character));
}

/// Decodes an HTML character reference.
fn entity(rest: &mut Peekable<Chars<'_>>, out: &mut String) {
    let mut ahead = rest.clone();
    let name: String = ahead.by_ref().take(10).take_while(|c| *c != ';').collect();
    let code = match name.strip_prefix('#') {
        Some(number) => match number.strip_prefix(['x', 'X']) {
            Some(digits) => u32::from_str_radix(digits, 16).ok(),
            None => number.parse().ok(),
        },
        None => (name == "amp").then_some(u32::from('&')),
    };
    let Some(code) = code else { return out.push('&') };
    let length = name.chars().count().saturating_add(1);
    for _ in 0..length {
        rest.next();
    }
    out.push(character(code));
}

fn character(code: u32) -> char {
    char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// Returns the rest behind the next character.
fn after<'a>(rest: &Peekable<Chars<'a>>) -> Peekable<Chars<'a>> {
    let mut ahead = rest.clone();
    ahead.next();
    ahead
}

/// Consumes a number of `count` hex digits; consumes nothing where there is none.
fn hex(rest: &mut Peekable<Chars<'_>>, count: usize) -> Option<u32> {
    let digits: String = rest.clone().take(count).collect();
    let is_number = digits.chars().all(|c| c.is_ascii_hexdigit()) && digits.len() == count;
    let number = u32::from_str_radix(&digits, 16).ok().filter(|_| is_number)?;
    for _ in 0..count {
        rest.next();
    }
    Some(number)
}
