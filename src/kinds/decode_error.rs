//! Describes to people a document that does not fit its kind's shape.
//!
//! The parser's message passes through two steps. [`clean`] removes private text when the misfit is
//! created: a [`DecodeError`] never holds a secret or personal value. [`DecodeError::issue`] then rewrites
//! the message without the parser's jargon, with the nearest field or word as help.

use super::schema::kind::{DecodeError, SpecField};
use super::schema::{amount, whole_number};
use crate::base::money::{Currency, Money};
use crate::base::secret::mask_digits;
use crate::kinds::secrets::redact::{field_of, names_beneath, touches_private};
use crate::kinds::secrets::secret_source;
use crate::model::issue::Issue;

/// Longest field name that is repeated in a place where a secret could have been written.
const SHOWN_NAME_LENGTH_MAX: usize = 24;
/// Most digits of such a name.
const SHOWN_NAME_DIGITS_MAX: usize = 2;
/// Edits within which a word is always suggested; for longer words, a third of the letters.
const SUGGESTION_EDITS_MIN: usize = 2;
/// Replacement for text that is not repeated.
const HIDDEN: &str = "…";

/// Names of a card's security code.
const SECURITY_CODES: [&str; 5] = ["cvv", "cvv2", "cvc", "cvc2", "csc"];
const SECURITY_CODE_HELP: &str =
    "remove the field: a card's security code must not be stored, and saving a card needs none";

/// Parser's message about a place, split into its parts.
#[derive(Debug, PartialEq, Eq)]
enum ParserMessage<'a> {
    Unknown { name: &'a str, known: Vec<&'a str> },
    Missing { name: &'a str, doc: &'a str },
    Duplicate { name: &'a str },
    Word { found: &'a str, known: Vec<&'a str> },
    Type { found: &'a str, expected: &'a str },
    Value { found: &'a str, expected: &'a str },
    Other,
}

fn parse_message(message: &str) -> ParserMessage<'_> {
    split_message(message).unwrap_or(ParserMessage::Other)
}

fn split_message(message: &str) -> Option<ParserMessage<'_>> {
    if let Some(rest) = message.strip_prefix("unknown field `") {
        let (name, known) = rest.rsplit_once("`, expected ").or_else(|| rest.rsplit_once("`, "))?;
        return Some(ParserMessage::Unknown { name, known: quoted_words(known) });
    }
    if let Some(rest) = message.strip_prefix("unknown variant `") {
        let (found, known) = rest.rsplit_once("`, expected ")?;
        return Some(ParserMessage::Word { found, known: quoted_words(known) });
    }
    if let Some(rest) = message.strip_prefix("missing field `") {
        let (name, doc) = rest.split_once('`')?;
        return Some(ParserMessage::Missing { name, doc: doc.trim_start_matches(": ") });
    }
    if let Some(rest) = message.strip_prefix("duplicate field `") {
        return Some(ParserMessage::Duplicate { name: rest.split('`').next()? });
    }
    if let Some(rest) = message.strip_prefix("invalid type: ") {
        let (found, expected) = rest.rsplit_once(", expected ")?;
        return Some(ParserMessage::Type { found, expected });
    }
    let (found, expected) = message.strip_prefix("invalid value: ")?.rsplit_once(", expected ")?;
    Some(ParserMessage::Value { found, expected })
}

fn quoted_words(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// Creates a misfit that shows nothing private, from the parser's `path` and `message`.
pub(crate) fn clean(
    fields: &[SpecField],
    path: &str,
    offset: Option<usize>,
    message: &str,
) -> DecodeError {
    let private = touches_private(fields, path);
    let (path, message) = match parse_message(message) {
        ParserMessage::Unknown { name, known } => clean_unknown(fields, path, name, &known),
        ParserMessage::Missing { name, doc: _ } => {
            let doc = field_of(fields, &join(path, name)).map(|field| field.doc);
            let doc = doc.map(|doc| format!(": {}", doc.trim_end_matches('.'))).unwrap_or_default();
            (path.to_owned(), format!("missing field `{name}`{doc}"))
        }
        ParserMessage::Type { found, expected } if private => {
            (path.to_owned(), format!("invalid type: {}, expected {expected}", value_type(found)))
        }
        ParserMessage::Value { found, expected } if private => {
            (path.to_owned(), format!("invalid value: {}, expected {expected}", value_type(found)))
        }
        ParserMessage::Word { .. } | ParserMessage::Other if private && path != "." => {
            (path.to_owned(), HIDDEN.to_owned())
        }
        ParserMessage::Duplicate { .. }
        | ParserMessage::Type { .. }
        | ParserMessage::Value { .. }
        | ParserMessage::Word { .. }
        | ParserMessage::Other => (path.to_owned(), message.to_owned()),
    };
    DecodeError { path: mask_digits(&path), offset, message: mask_digits(&message) }
}

/// Returns the type of a value, without the value: `string "x"` gives `string`.
fn value_type(found: &str) -> &str {
    found.split(['`', '"']).next().unwrap_or_default().trim_end()
}

/// Drops known names that are declared only to be refused, and shows the offending name only if
/// that is safe.
fn clean_unknown(fields: &[SpecField], path: &str, name: &str, known: &[&str]) -> (String, String) {
    let parent = path.strip_suffix(name).unwrap_or(path).trim_end_matches('.');
    let listed = names_beneath(fields, parent);
    let known = known.iter().filter(|one| listed.is_empty() || listed.contains(one));
    let known: Vec<String> = known.map(|one| format!("`{one}`")).collect();
    let hidden = touches_private(fields, parent) && !is_showable(name);
    let (path, name) = if hidden { (parent, HIDDEN) } else { (path, name) };
    (path.to_owned(), format!("unknown field `{name}`, expected one of {}", known.join(", ")))
}

fn is_showable(name: &str) -> bool {
    let digits = name.chars().filter(char::is_ascii_digit).count();
    name.len() <= SHOWN_NAME_LENGTH_MAX
        && digits <= SHOWN_NAME_DIGITS_MAX
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn join(path: &str, name: &str) -> String {
    if path == "." { name.to_owned() } else { format!("{path}.{name}") }
}

impl DecodeError {
    /// Returns the problem and its remedy for people.
    pub fn issue(&self) -> Issue {
        let Self { path, offset: _, message } = self;
        match parse_message(message) {
            ParserMessage::Unknown { name, known } => unknown_issue(path, name, &known),
            ParserMessage::Missing { name, doc } => {
                let help = if doc.is_empty() {
                    format!("add `{name}`")
                } else {
                    format!("add `{name}`: {doc}")
                };
                let message = format!("the field `{name}` is missing");
                Issue::error("reckon::spec::missing_field", &join(path, name), message, help)
                    .underline_key()
            }
            ParserMessage::Duplicate { name } => {
                let message = format!("duplicate field `{name}`");
                Issue::error("reckon::spec::duplicate_field", path, message, "keep one of the two")
                    .underline_key()
            }
            ParserMessage::Word { found, known } => {
                let message = format!("unknown value `{found}`");
                let help = suggestion(found, &known);
                Issue::error("reckon::spec::unknown_value", path, message, help)
            }
            ParserMessage::Type { found, expected } => type_issue(path, found, expected),
            ParserMessage::Value { found, expected } => {
                let message = format!(
                    "expected {}, found {}",
                    describe_expected(expected),
                    describe_found(found)
                );
                let help = format!("write {}", describe_expected(expected));
                Issue::error("reckon::spec::wrong_value", path, message, help)
            }
            ParserMessage::Other => {
                let message = if message == HIDDEN { "the value cannot be read" } else { message };
                let help = "check the indentation and the quotes around it";
                Issue::error("reckon::spec::unreadable", path, message, help)
            }
        }
    }
}

fn unknown_issue(path: &str, name: &str, known: &[&str]) -> Issue {
    if SECURITY_CODES.contains(&name) {
        let message = format!("no spec has a field `{name}`");
        return Issue::error("reckon::spec::security_code", path, message, SECURITY_CODE_HELP)
            .underline_key();
    }
    let message = match name {
        HIDDEN => "unknown field".to_owned(),
        name => format!("there is no field `{name}` here"),
    };
    let help = suggestion(name, known);
    Issue::error("reckon::spec::unknown_field", path, message, help).underline_key()
}

fn type_issue(path: &str, found: &str, expected: &str) -> Issue {
    if let Some(number) =
        found.strip_prefix("floating point `").filter(|_| expected == amount::EXPECTED)
    {
        let number = number.trim_end_matches('`');
        let cents = number.split_once('.').is_some_and(|(_, decimals)| decimals.len() == 1);
        let whole = number.strip_suffix(".0").and_then(|whole| whole.parse().ok());
        let minor = whole.map(|minor| Money::new(minor, Currency::USD));
        let minor = minor.map(|minor| format!(", or `\"{minor}\"` if minor units were meant"));
        let cents = if cents { "0" } else { "" };
        let minor = minor.unwrap_or_default();
        let help = format!("write `\"{number}{cents} USD\"`, in quotes{minor}");
        let message = format!(
            "the number {number} has no currency, and is not a whole number of minor units"
        );
        return Issue::error("reckon::amount::float", path, message, help);
    }
    let message =
        format!("expected {}, found {}", describe_expected(expected), describe_found(found));
    let help = format!("write {}", describe_expected(expected));
    Issue::error("reckon::spec::wrong_type", path, message, help)
}

/// Describes the type that the parser expected.
fn describe_expected(expected: &str) -> &str {
    match expected {
        "a string" | "str" => "a text",
        "a sequence" => "a list",
        "a map" => "a mapping of fields",
        "a boolean" => "`true` or `false`",
        "u8" | "u16" | "u32" | "u64" | "usize" | "i32" | "i64" | whole_number::EXPECTED => {
            "a whole number"
        }
        amount::EXPECTED => "an amount such as `\"125.00 USD\"`",
        secret_source::EXPECTED => secret_source::FORMS,
        _ if expected.starts_with("struct ") => "a mapping of fields",
        _ if expected.starts_with("enum ") || expected.contains("YAML tag") => "a word",
        _ => expected,
    }
}

/// Describes the value that the parser found, or only its type if the value was removed.
fn describe_found(found: &str) -> String {
    let value =
        found.find(['`', '"']).and_then(|at| found.get(at..)).map(|value| value.trim_matches('`'));
    match (value_type(found), value) {
        ("string", Some(text)) => format!("the text {text}"),
        ("string", None) => "a text".to_owned(),
        ("integer" | "floating point", Some(number)) => {
            format!("the number {}", number.split('`').next().unwrap_or_default())
        }
        ("integer" | "floating point", None) => "a number".to_owned(),
        ("boolean", Some(word)) => format!("`{word}`"),
        ("boolean", None) => "`true` or `false`".to_owned(),
        ("map", _) => "a mapping".to_owned(),
        ("sequence", _) => "a list".to_owned(),
        ("unit value" | "null" | "Option value", _) => "nothing".to_owned(),
        (other, _) => other.to_owned(),
    }
}

/// Suggests the nearest of the known words, else all of them.
fn suggestion(found: &str, known: &[&str]) -> String {
    match (nearest(found, known), known) {
        (Some(word), _) => format!("write `{word}`"),
        (None, []) => "leave it out".to_owned(),
        (None, [only]) => format!("write `{only}`"),
        (None, _) => {
            let words: Vec<String> = known.iter().map(|word| format!("`{word}`")).collect();
            format!("write one of {}", words.join(", "))
        }
    }
}

fn nearest<'a>(found: &str, known: &[&'a str]) -> Option<&'a str> {
    let plain = |word: &str| word.to_lowercase().replace(['_', '-'], "");
    let found = plain(found);
    let edits = |word: &str| strsim::damerau_levenshtein(&found, &plain(word));
    let most = |word: &str| word.len().checked_div(3).unwrap_or_default().max(SUGGESTION_EDITS_MIN);
    let close = known.iter().filter(|word| edits(word) <= most(word) && edits(word) < word.len());
    close.min_by_key(|word| edits(word)).copied()
}
