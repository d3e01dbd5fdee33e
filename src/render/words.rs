//! Small pieces of text that every view uses. What comes from files and from the service is made
//! harmless here: it cannot steer a terminal.

use owo_colors::{OwoColorize, Style};
use serde_json::Value;

use crate::base::money::{Currency, Money};
use crate::engine::MoneyView;
use crate::model::issue::{Problem, Severity};

/// Longer values are cut, in characters.
const VALUE_LENGTH_MAX: usize = 200;

/// Colours, or none.
#[derive(Debug, Clone, Copy)]
pub(super) struct Paint {
    /// Whether there are any.
    pub(super) color: bool,
}

impl Paint {
    /// The text in a style.
    pub(super) fn paint(self, style: Style, text: &str) -> String {
        if self.color { text.style(style).to_string() } else { text.to_owned() }
    }

    /// The text as something that matters.
    pub(super) fn bold(self, text: &str) -> String {
        self.paint(Style::new().bold(), text)
    }

    /// The text as something beside the point.
    pub(super) fn dim(self, text: &str) -> String {
        self.paint(Style::new().dimmed(), text)
    }
}

/// Text without anything that moves a cursor, changes colours or turns the direction of writing.
pub(super) fn clean(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() || turns_direction(c) {
            clean.extend(c.escape_unicode());
        } else {
            clean.push(c);
        }
    }
    clean
}

/// Characters that show later text in another order, or a line end in the middle of one.
fn turns_direction(c: char) -> bool {
    matches!(
        c,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

/// `Kind/name`, with the namespace between them unless it is the default one.
pub(super) fn key(kind: &str, namespace: &str, name: &str) -> String {
    clean(&match namespace {
        "default" => format!("{kind}/{name}"),
        _ => format!("{kind}/{namespace}/{name}"),
    })
}

/// `FILE:LINE`, as far as it is known.
pub(super) fn place(file: Option<&str>, line: Option<usize>) -> Option<String> {
    let file = clean(file?);
    Some(line.map_or_else(|| file.clone(), |line| format!("{file}:{line}")))
}

/// `125.00 USD`.
pub(super) fn amount(money: &MoneyView) -> String {
    money_of(money.amount, &money.currency)
}

/// The same of minor units and a currency.
pub(super) fn money_of(amount: i64, currency: &str) -> String {
    match currency.parse::<Currency>() {
        Ok(currency) => Money::new(amount, currency).to_string(),
        Err(_) => format!("{amount} minor units of {}", clean(currency)),
    }
}

/// `125.00 USD invoiced (test)`.
pub(super) fn money(money: &MoneyView) -> String {
    format!("{} {} ({})", amount(money), meaning(&money.meaning), money.mode)
}

/// `specs/acme.yaml:14:9 what is wrong`.
pub(super) fn problem(problem: &Problem) -> String {
    let Problem { file, line, column, message, severity, .. } = problem;
    let warning = if *severity == Severity::Warning { "warning: " } else { "" };
    format!("{file}:{line}:{column} {warning}{message}")
}

/// `collected per occurrence`.
pub(super) fn meaning(meaning: &str) -> String {
    clean(meaning).replace('_', " ")
}

/// Adds one line.
pub(super) fn line(out: &mut String, text: &str) {
    out.push_str(text);
    out.push('\n');
}

/// The first digits of a hash: enough to tell one from another.
pub(super) fn short(hash: &str) -> String {
    clean(&hash.chars().take(12).collect::<String>())
}

/// A value on one line: plain text as it is, everything else as JSON.
pub(super) fn value(value: &Value) -> String {
    let text = match value {
        Value::String(text) if is_plain(text) => text.clone(),
        Value::String(_)
        | Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::Array(_)
        | Value::Object(_) => value.to_string(),
    };
    let mut text = clean(&text);
    if let Some((cut, _)) = text.char_indices().nth(VALUE_LENGTH_MAX) {
        text.truncate(cut);
        text.push('…');
    }
    text
}

/// Whether a text needs no quotes to be told from other values and from the words around it.
fn is_plain(text: &str) -> bool {
    let word = serde_json::from_str::<Value>(text).is_ok_and(|read| !read.is_number());
    !text.is_empty() && text.trim() == text && !word && !text.contains(['"', '→'])
}

/// Text in lines of at most `width` columns, broken between words.
pub(super) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in clean(text).split_whitespace() {
        let Some(line) = lines.last_mut() else { return lines };
        let length = line.chars().count().saturating_add(word.chars().count());
        if line.is_empty() {
            line.push_str(word);
        } else if length < width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::base::id::Mode;

    #[test]
    fn text_from_outside_cannot_steer_a_terminal() {
        assert_eq!(clean("a\u{1b}[31mb\r\n\u{202e}c é"), "a\\u{1b}[31mb\\u{d}\\u{a}\\u{202e}c é");
        assert_eq!(place(Some("a\n.yaml"), Some(3)), Some("a\\u{a}.yaml:3".to_owned()));
        assert_eq!(place(None, Some(3)), None);
    }

    #[test]
    fn a_value_is_told_from_another_type_and_from_what_stands_around_it() {
        for (given, shown) in [
            (json!("Retainer fee"), "Retainer fee"),
            (json!("125.00 USD"), "125.00 USD"),
            (json!(""), "\"\""),
            (json!(" a"), "\" a\""),
            (json!("true"), "\"true\""),
            (json!("null"), "\"null\""),
            (json!("a → b"), "\"a → b\""),
            (json!(true), "true"),
            (json!({"a": [1]}), "{\"a\":[1]}"),
        ] {
            assert_eq!(value(&given), shown);
        }
        assert_eq!(value(&json!("x".repeat(500))).chars().count(), VALUE_LENGTH_MAX + 1);
    }

    #[test]
    fn money_has_the_decimals_of_its_currency() {
        let of = |currency: &str| MoneyView {
            currency: currency.to_owned(),
            mode: Mode::Live,
            meaning: "collected_per_occurrence".to_owned(),
            amount: 12_500,
        };
        assert_eq!(money(&of("USD")), "125.00 USD collected per occurrence (live)");
        assert_eq!(amount(&of("JPY")), "12500 JPY");
        assert_eq!(amount(&of("???")), "12500 minor units of ???");
    }

    #[test]
    fn lines_are_broken_between_words() {
        assert_eq!(wrapped("one two three", 8), ["one two", "three"]);
        assert_eq!(wrapped("", 8), [""]);
        assert_eq!(wrapped("averylongword x", 4), ["averylongword", "x"]);
    }
}
