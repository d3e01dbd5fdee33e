//! Describes to people a document that does not fit its kind's shape.
//!
//! A misfit passes through two steps. [`clean`] removes private text when the error is created: a
//! [`DecodeError`] never holds a secret or personal value. [`DecodeError::issue`] then describes the
//! problem without the parser's jargon, with the nearest field or word as help.

use crate::base::decode::document::{DocumentMisfit, InvalidDocument};
use crate::base::decode::problem::{DecodeProblem, ExpectedValue, FoundValue};
use crate::base::money::{Currency, Money};
use crate::base::secret::mask_digits;
use crate::kinds::schema::kind::{DecodeError, SpecField};
use crate::kinds::schema::values;
use crate::kinds::secrets::{field_of, names_beneath, secret_source, touches_private};
use crate::model::issue::Issue;

/// Longest field name that is repeated in a place where a secret could have been written.
const SHOWN_NAME_LENGTH_MAX: usize = 24;
const SHOWN_NAME_DIGITS_MAX: usize = 2;
/// Edits within which a word is always suggested; for longer words, a third of the letters.
const SUGGESTION_EDITS_MIN: usize = 2;
const HIDDEN: &str = "…";

const SECURITY_CODES: [&str; 5] = ["cvv", "cvv2", "cvc", "cvc2", "csc"];
const SECURITY_CODE_HELP: &str =
    "remove the field: a card's security code must not be stored, and saving a card needs none";

/// Describes the reason why a document cannot be decoded. Broken YAML is described without the
/// parser's line numbers, which count within the document.
pub(crate) fn decode_errors(fields: &[SpecField], invalid: InvalidDocument) -> Vec<DecodeError> {
    match invalid {
        InvalidDocument::Broken(error) => {
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default();
            let offset = error.location().map(|location| location.index());
            let problem = DecodeProblem::Other(message.to_owned());
            vec![DecodeError { offset, ..clean(&[], ".", problem) }]
        }
        InvalidDocument::Misfits(misfits) => {
            let clean = |DocumentMisfit { path, problem }| clean(fields, &path, problem);
            without_mistyped(misfits.into_iter().map(clean).collect())
        }
    }
}

/// Drops a missing field whose name an unknown field beside it was probably meant to be.
fn without_mistyped(mut errors: Vec<DecodeError>) -> Vec<DecodeError> {
    let meant: Vec<String> = errors.iter().filter_map(meant_path).collect();
    errors.retain(|error| {
        let DecodeProblem::MissingField { name } = &error.problem else { return true };
        !meant.contains(&join(&error.path, name))
    });
    errors
}

/// Returns the path of the field that an unknown field was probably meant to be.
fn meant_path(error: &DecodeError) -> Option<String> {
    let DecodeProblem::UnknownField { name, known } = &error.problem else { return None };
    let parent = error.path.strip_suffix(name.as_str())?.trim_end_matches('.');
    nearest(name, known).map(|meant| join(if parent.is_empty() { "." } else { parent }, meant))
}

/// Returns an error that shows nothing private.
pub(crate) fn clean(fields: &[SpecField], path: &str, problem: DecodeProblem) -> DecodeError {
    let private = touches_private(fields, path);
    let (mut shown, mut doc) = (path.to_owned(), "");
    let mut problem = match problem {
        DecodeProblem::UnknownField { name, known } => {
            let (path, problem) = clean_unknown(fields, path, &name, known);
            shown = path;
            problem
        }
        DecodeProblem::MissingField { name } => {
            let field = field_of(fields, &join(path, &name));
            doc = field.map(|field| field.doc.trim_end_matches('.')).unwrap_or_default();
            DecodeProblem::MissingField { name }
        }
        DecodeProblem::WrongType { found, expected } if private => {
            DecodeProblem::WrongType { found: found.without_value(), expected }
        }
        DecodeProblem::WrongValue { found, expected } if private => {
            DecodeProblem::WrongValue { found: found.without_value(), expected }
        }
        DecodeProblem::UnknownWord { .. } | DecodeProblem::Other(_) if private && path != "." => {
            DecodeProblem::Other(HIDDEN.to_owned())
        }
        other @ (DecodeProblem::DuplicateField { .. }
        | DecodeProblem::WrongType { .. }
        | DecodeProblem::WrongValue { .. }
        | DecodeProblem::UnknownWord { .. }
        | DecodeProblem::Other(_)) => other,
    };
    mask_text(&mut problem);
    DecodeError { path: mask_digits(&shown), offset: None, problem, doc }
}

/// Masks card numbers in the text that the document wrote.
fn mask_text(problem: &mut DecodeProblem) {
    let text = match problem {
        DecodeProblem::UnknownField { name: text, known: _ }
        | DecodeProblem::UnknownWord { found: text, known: _ }
        | DecodeProblem::Other(text) => text,
        DecodeProblem::WrongType { found, expected: _ }
        | DecodeProblem::WrongValue { found, expected: _ } => {
            let (FoundValue::Text(Some(text))
            | FoundValue::Integer(Some(text))
            | FoundValue::Float(Some(text))) = found
            else {
                return;
            };
            text
        }
        DecodeProblem::MissingField { .. } | DecodeProblem::DuplicateField { .. } => return,
    };
    *text = mask_digits(text);
}

/// Drops known names that are only refused; shows the offending name only if that is safe.
fn clean_unknown(
    fields: &[SpecField],
    path: &str,
    name: &str,
    known: Vec<String>,
) -> (String, DecodeProblem) {
    let mut known = secret_source::suggestible(known);
    let parent = path.strip_suffix(name).unwrap_or(path).trim_end_matches('.');
    let listed = names_beneath(fields, parent);
    known.retain(|one| listed.is_empty() || listed.contains(&one.as_str()));
    let hidden = touches_private(fields, parent) && !is_showable(name);
    let (path, name) = if hidden { (parent, HIDDEN) } else { (path, name) };
    (path.to_owned(), DecodeProblem::UnknownField { name: name.to_owned(), known })
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
    pub fn issue(&self) -> Issue {
        let Self { path, offset: _, problem, doc } = self;
        match problem {
            DecodeProblem::UnknownField { name, known } => unknown_issue(path, name, known),
            DecodeProblem::MissingField { name } => {
                let colon = if doc.is_empty() { "" } else { ": " };
                let help = format!("add `{name}`{colon}{doc}");
                let message = format!("the field `{name}` is missing");
                Issue::error("reckon::spec::missing_field", &join(path, name), message, help)
                    .underline_key()
            }
            DecodeProblem::DuplicateField { name } => {
                let message = format!("duplicate field `{name}`");
                Issue::error("reckon::spec::duplicate_field", path, message, "keep one of the two")
                    .underline_key()
            }
            DecodeProblem::UnknownWord { found, known } => {
                let message = format!("unknown value `{found}`");
                let help = suggestion(found, known);
                Issue::error("reckon::spec::unknown_value", path, message, help)
            }
            DecodeProblem::WrongType { found, expected } => type_issue(path, found, expected),
            DecodeProblem::WrongValue { found, expected } => {
                wrong_issue("reckon::spec::wrong_value", path, found, expected)
            }
            DecodeProblem::Other(message) => {
                let message = if message == HIDDEN { "the value cannot be read" } else { message };
                let help = "check the indentation and the quotes around it";
                Issue::error("reckon::spec::unreadable", path, message, help)
            }
        }
    }
}

fn unknown_issue(path: &str, name: &str, known: &[String]) -> Issue {
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

fn type_issue(path: &str, found: &FoundValue, expected: &ExpectedValue) -> Issue {
    if let FoundValue::Float(Some(number)) = found
        && matches!(expected, ExpectedValue::Named(name) if name == values::EXPECTED_AMOUNT)
    {
        let has_one_decimal = number.split_once('.').is_some_and(|(_, rest)| rest.len() == 1);
        let cents = if has_one_decimal { "0" } else { "" };
        let whole = number.strip_suffix(".0").and_then(|whole| whole.parse().ok());
        let minor = whole.map(|minor| Money::new(minor, Currency::USD));
        let minor = minor.map(|minor| format!(", or `\"{minor}\"` if minor units were meant"));
        let minor = minor.unwrap_or_default();
        let help = format!("write `\"{number}{cents} USD\"`, in quotes{minor}");
        let message = format!(
            "the number {number} has no currency, and is not a whole number of minor units"
        );
        return Issue::error("reckon::amount::float", path, message, help);
    }
    wrong_issue("reckon::spec::wrong_type", path, found, expected)
}

fn wrong_issue(
    code: &'static str,
    path: &str,
    found: &FoundValue,
    expected: &ExpectedValue,
) -> Issue {
    let expected = describe_expected(expected);
    let message = format!("expected {expected}, found {}", describe_found(found));
    Issue::error(code, path, message, format!("write {expected}"))
}

fn describe_expected(expected: &ExpectedValue) -> &str {
    match expected {
        ExpectedValue::Text => "a text",
        ExpectedValue::WholeNumber => "a whole number",
        ExpectedValue::Number => "a number",
        ExpectedValue::Bool => "`true` or `false`",
        ExpectedValue::Sequence => "a list",
        ExpectedValue::Mapping => "a mapping of fields",
        ExpectedValue::Word => "a word",
        ExpectedValue::Nothing => "nothing",
        ExpectedValue::Named(name) => match name.as_str() {
            values::EXPECTED_WHOLE_NUMBER => "a whole number",
            values::EXPECTED_AMOUNT => "an amount such as `\"125.00 USD\"`",
            secret_source::EXPECTED => secret_source::FORMS,
            name => name,
        },
    }
}

/// Describes the value that the document holds, or only its type if the value was removed.
fn describe_found(found: &FoundValue) -> String {
    match found {
        FoundValue::Text(Some(text)) => format!("the text {text:?}"),
        FoundValue::Text(None) => "a text".to_owned(),
        FoundValue::Integer(Some(number)) | FoundValue::Float(Some(number)) => {
            format!("the number {number}")
        }
        FoundValue::Integer(None) | FoundValue::Float(None) => "a number".to_owned(),
        FoundValue::Bool(Some(word)) => format!("`{word}`"),
        FoundValue::Bool(None) => "`true` or `false`".to_owned(),
        FoundValue::Mapping => "a mapping".to_owned(),
        FoundValue::Sequence => "a list".to_owned(),
        FoundValue::Nothing => "nothing".to_owned(),
        FoundValue::Other => "another value".to_owned(),
    }
}

/// Suggests the nearest of the known words, else all of them.
fn suggestion(found: &str, known: &[String]) -> String {
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

fn nearest<'a>(found: &str, known: &'a [String]) -> Option<&'a str> {
    let plain = |word: &str| word.to_lowercase().replace(['_', '-'], "");
    let found = plain(found);
    let edits = |word: &str| strsim::damerau_levenshtein(&found, &plain(word));
    let most = |word: &str| word.len().checked_div(3).unwrap_or_default().max(SUGGESTION_EDITS_MIN);
    let close = known.iter().filter(|word| edits(word) <= most(word) && edits(word) < word.len());
    close.min_by_key(|word| edits(word)).map(String::as_str)
}
