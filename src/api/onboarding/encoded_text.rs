//! Detection of encoded texts (partner-api: encoded values are not accepted).
//!
//! The tests detect texts that encoders write and people do not. An encoder turns only those
//! characters into `%20` or `&amp;` that need it, and base64 of a text decodes to a text again. So
//! `50% off`, `AT&T` and any word pass.

use data_encoding::BASE64;

/// Shortest base64 without padding that differs from a word.
const BASE64_LENGTH_MIN: usize = 12;
/// Shortest base64 with padding, which no word has.
const PADDED_LENGTH_MIN: usize = 8;

/// The last letter of the Latin blocks: a decoded text holds no later letters.
const LATIN_MAX: char = '\u{24f}';

/// Encoding of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// Such as `%20`.
    Percent,
    /// Such as `&amp;`.
    Html,
    /// Such as `SmFuZSBEb2U=`.
    Base64,
}

impl Encoding {
    /// Returns the encoding's name for messages.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Percent => "percent-encoded",
            Self::Html => "HTML-encoded",
            Self::Base64 => "base64-encoded",
        }
    }
}

/// Returns the encoding of a text, `None` for a plain one. A web address keeps its percent signs.
pub(crate) fn encoding(text: &str, is_address: bool) -> Option<Encoding> {
    let own_percents = is_address && text.contains("://");
    if !own_percents && is_percent_encoded(text) {
        return Some(Encoding::Percent);
    }
    if is_html_encoded(text) {
        return Some(Encoding::Html);
    }
    is_base64(text.trim()).then_some(Encoding::Base64)
}

/// Returns whether a text has a `%` and two hex digits that an encoder would write. One behind a
/// digit in a text with spaces is a percentage.
fn is_percent_encoded(text: &str) -> bool {
    let has_space = text.contains(char::is_whitespace);
    text.match_indices('%').any(|(at, _)| {
        let (before, from) = text.split_at(at);
        let is_percentage = has_space && before.ends_with(|c: char| c.is_ascii_digit());
        !is_percentage && starts_with_escape(from)
    })
}

/// Returns whether a text starts with the escape of an ASCII character that needs one, or of a
/// whole multi-byte character.
fn starts_with_escape(text: &str) -> bool {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some((byte, after)) = escape(rest) {
        bytes.push(byte);
        rest = after;
        if let Ok(read) = std::str::from_utf8(&bytes) {
            return !read.chars().all(is_unreserved);
        }
        if bytes.len() == 4 {
            return false;
        }
    }
    false
}

fn is_unreserved(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | '~')
}

/// Returns the byte of a `%XX` at the start, and the rest of the text.
fn escape(text: &str) -> Option<(u8, &str)> {
    let digits = text.strip_prefix('%')?;
    let pair = digits.get(..2).filter(|pair| pair.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    Some((u8::from_str_radix(pair, 16).ok()?, digits.get(2..)?))
}

/// Names of characters that encoders use, besides the accented letters.
const ENTITIES: [&str; 30] = [
    "amp", "lt", "gt", "quot", "apos", "nbsp", "copy", "reg", "trade", "euro", "pound", "cent",
    "yen", "sect", "deg", "middot", "hellip", "ndash", "mdash", "lsquo", "rsquo", "ldquo", "rdquo",
    "bull", "laquo", "raquo", "iexcl", "iquest", "szlig", "shy",
];
const ACCENTS: [&str; 8] = ["acute", "grave", "circ", "uml", "tilde", "cedil", "ring", "slash"];

/// Returns whether a text has an `&name;` or `&#number;`.
fn is_html_encoded(text: &str) -> bool {
    text.match_indices('&').any(|(at, _)| {
        let entity = text.split_at(at).1.split_once(';').map(|(entity, _)| entity);
        entity.and_then(|entity| entity.strip_prefix('&')).is_some_and(is_entity)
    })
}

fn is_entity(name: &str) -> bool {
    if let Some(number) = name.strip_prefix('#') {
        let hex = number.strip_prefix(['x', 'X']);
        let digits = hex.unwrap_or(number);
        let fits = |c: char| if hex.is_some() { c.is_ascii_hexdigit() } else { c.is_ascii_digit() };
        return !digits.is_empty() && digits.chars().all(fits);
    }
    let accented = |accent: &str| {
        let letter = name.strip_suffix(accent).unwrap_or_default();
        letter.len() == 1 && letter.chars().all(|c| c.is_ascii_alphabetic())
    };
    ENTITIES.contains(&name) || ACCENTS.iter().any(|accent| accented(accent))
}

/// Returns whether a text decodes and is either padded, or too mixed for a word and readable when
/// decoded.
fn is_base64(text: &str) -> bool {
    let Ok(bytes) = BASE64.decode(text.as_bytes()) else {
        return false;
    };
    if text.ends_with('=') {
        return text.len() >= PADDED_LENGTH_MIN;
    }
    let readable =
        |c: char| (c.is_alphanumeric() && c <= LATIN_MAX) || " .,'&-/@:()\"\n{}".contains(c);
    text.len() >= BASE64_LENGTH_MIN
        && is_mixed(text)
        && std::str::from_utf8(&bytes).is_ok_and(|read| read.chars().all(readable))
}

/// Returns whether a text has small letters and capitals, and a capital behind a small letter, or a
/// digit.
fn is_mixed(text: &str) -> bool {
    let mut last = ' ';
    let mut turns = false;
    for c in text.chars() {
        turns |= c.is_ascii_digit() || (last.is_ascii_lowercase() && c.is_ascii_uppercase());
        last = c;
    }
    turns
        && text.contains(|c: char| c.is_ascii_lowercase())
        && text.contains(|c: char| c.is_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_texts_are_plain() {
        for text in [
            "",
            "50% off",
            "100%",
            "100%25 apples",
            "5%20 split",
            "100%dedicated",
            "100%fabric",
            "AT&T",
            "R&D; Sales",
            "Smith & Sons; Partners",
            "Consulting",
            "Internationalization",
            "McDonald",
            "12-3456789",
            "123456789",
            "1234567890123456",
            "148414841484",
            "111000025",
            "https",
            "JohnDoeAndSons12",
            "GitHubActions",
            "rkabcdefghijklmnopqrstuvwxyz",
            "a=b",
            "Café Zürich",
            "Mozilla/5.0 (X11; Linux)",
            "en-US,en;q=0.9",
            "203.0.113.7",
            "O'Neill \"The\" Lawyer",
            "%",
            "%%",
            "% 20",
            "&;",
            "&#;",
        ] {
            assert_eq!(encoding(text, false), None, "{text}");
        }
        assert_eq!(encoding("https://acme.example/a%20b?c=%26", true), None);
    }

    #[test]
    fn encoded_texts_are_told() {
        for (text, expect) in [
            ("Smith%20%26%20Sons", Encoding::Percent),
            ("Smith %26 Sons", Encoding::Percent),
            ("Caf%C3%A9 Roma", Encoding::Percent),
            ("100%25", Encoding::Percent),
            ("https%3A%2F%2Facme.example", Encoding::Percent),
            ("Smith &amp; Sons", Encoding::Html),
            ("O&#39;Neill", Encoding::Html),
            ("O&#x27;Neill", Encoding::Html),
            ("Caf&eacute;", Encoding::Html),
            ("SmFuZQ==", Encoding::Base64),
            ("SmFuZSBEb2UgSW5j", Encoding::Base64),
            ("U21pdGggJiBTb25zIExMQw==", Encoding::Base64),
        ] {
            assert_eq!(encoding(text, false), Some(expect), "{text}");
        }
        assert_eq!(encoding("https%3A%2F%2Facme.example", true), Some(Encoding::Percent));
    }
}
