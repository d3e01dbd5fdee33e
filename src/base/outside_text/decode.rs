//! Decodes the escapes of a text, so that a value is recognised however it is written.
//!
//! Terminal control characters become a blank, and characters without width are dropped.

use std::iter::Peekable;
use std::str::Chars;

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

/// Replaces control characters and line ends by blanks, at most one in a row, and drops characters
/// without width.
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
