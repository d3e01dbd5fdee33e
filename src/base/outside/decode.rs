//! A text with its escapes undone, so that a value is seen however it is written; what steers a terminal becomes a
//! blank, and what has no width is left out.

use std::iter::Peekable;
use std::str::Chars;

/// How many layers of escapes are undone; deeper ones lose their signs.
const LAYERS_MAX: usize = 8;

/// The text without escapes, control characters, and characters that turn or hide others.
pub(super) fn decoded(text: &str) -> String {
    let mut text = harmless(text);
    for _ in 0..LAYERS_MAX {
        let next = harmless(&once(&text));
        if next == text {
            return text;
        }
        text = next;
    }
    harmless(&text.replace(['%', '\\', '&'], " "))
}

/// Blanks for control characters and line ends, at most one in a row; nothing for what has no width.
fn harmless(text: &str) -> String {
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

/// Characters that show nothing, or show later ones in another order.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// One layer of escapes undone: `%34`, `\u0034`, `\x34`, `\n`, `&#52;`, `&#x34;`, `&amp;`.
fn once(text: &str) -> String {
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

/// Bytes as URLs write them; what is no UTF-8 becomes U+FFFD.
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

/// What JSON and many languages write after a backslash.
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

/// A character as HTML writes it.
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

/// The rest behind the next character.
fn after<'a>(rest: &Peekable<Chars<'a>>) -> Peekable<Chars<'a>> {
    let mut ahead = rest.clone();
    ahead.next();
    ahead
}

/// A number of so many hex digits, which are taken; nothing is taken where there is none.
fn hex(rest: &mut Peekable<Chars<'_>>, count: usize) -> Option<u32> {
    let digits: String = rest.clone().take(count).collect();
    let is_number = digits.chars().all(|c| c.is_ascii_hexdigit()) && digits.len() == count;
    let number = u32::from_str_radix(&digits, 16).ok().filter(|_| is_number)?;
    for _ in 0..count {
        rest.next();
    }
    Some(number)
}
