//! Checks of an application: every problem at once, each at its field.
//!
//! The rules are the table's ([`FIELDS`]) and those that concern several fields. A text of white
//! space counts as missing, as does a null. No message repeats a field's value. A signature has the
//! jSignature format (partner-api, `signature`): JSON text, an array of strokes, each with the
//! integers `lx`, `ly`, `mx` and `my`.
//!
//! Encoded texts are not accepted (partner-api). The tests detect texts that encoders write and
//! people do not. An encoder turns only those characters into `%20` or `&amp;` that need it, and
//! base64 of a text decodes to a text again. So `50% off`, `AT&T` and any word pass.

use chrono::{DateTime, NaiveDate};
use data_encoding::BASE64;
use serde_json::{Map, Value};

use crate::api::onboarding::application::Submission;
use crate::api::onboarding::fields::{
    ApplicationField, FIELDS, FieldType, Need, SECOND_OWNER, SECOND_OWNER_FIELDS, SIGN_UP_REQUIRED,
};
use crate::api::rules::{self, FieldProblem, FieldProblems, is_email};

/// Returns every problem of the fields of an application. `trust_plan` means that its plan has a
/// trust account. Fields that the table does not name are not checked.
pub fn rules(
    submission: Submission,
    fields: &Map<String, Value>,
    trust_plan: bool,
) -> Vec<FieldProblem> {
    let mut problems = FieldProblems::default();
    let has_dba = flag(fields, "has_dba") == Some(true);
    for field in FIELDS {
        let needed = match submission {
            Submission::SignUp => SIGN_UP_REQUIRED.contains(&field.name),
            Submission::Complete => is_needed(field.need, has_dba, trust_plan),
        };
        check(&mut problems, "", field, fields.get(field.name), needed);
    }
    check_second_owner(&mut problems, submission, fields);
    check_responsibility(&mut problems, fields);
    let fits = submission == Submission::Complete || non_blank(fields.get("test")).is_none();
    problems.unless(fits, "test", "invalid", "Test is for complete applications only");
    problems.into_list()
}

fn is_needed(need: Need, has_dba: bool, trust_plan: bool) -> bool {
    match need {
        Need::Required => true,
        Need::Optional => false,
        Need::WithDba => has_dba,
        Need::TrustPlan => trust_plan,
    }
}

/// Checks the second owner, if there is one: an object with its own table.
fn check_second_owner(
    problems: &mut FieldProblems,
    submission: Submission,
    fields: &Map<String, Value>,
) {
    let Some(owner) = non_blank(fields.get(SECOND_OWNER)) else { return };
    let Some(owner) = owner.as_object() else {
        return problems.add(SECOND_OWNER, "invalid", "Second owner is not an object");
    };
    for field in SECOND_OWNER_FIELDS {
        let needed = submission == Submission::Complete && field.need == Need::Required;
        check(problems, SECOND_OWNER, field, owner.get(field.name), needed);
    }
}

/// Checks that one owner owns more than a quarter or is responsible (partner-api,
/// `owner_has_significant_responsibility`). Reports only when every owner answers both questions
/// with false.
fn check_responsibility(problems: &mut FieldProblems, fields: &Map<String, Value>) {
    let mut owners = vec![(
        flag(fields, "owner_has_significant_ownership"),
        flag(fields, "owner_has_significant_responsibility"),
    )];
    if let Some(second) = fields.get(SECOND_OWNER).and_then(Value::as_object) {
        let ownership = flag(second, "has_significant_ownership");
        owners.push((ownership, flag(second, "has_significant_responsibility")));
    }
    let text = "Significant responsibility must be true for one owner when none owns over 25%";
    let is_open = owners.iter().any(|owner| *owner != (Some(false), Some(false)));
    problems.unless(is_open, "owner_has_significant_responsibility", "invalid", text);
}

fn flag(fields: &Map<String, Value>, name: &str) -> Option<bool> {
    fields.get(name).and_then(Value::as_bool)
}

/// Returns a value that is neither null nor white space.
fn non_blank(value: Option<&Value>) -> Option<&Value> {
    value.filter(|value| {
        !value.is_null() && value.as_str().is_none_or(|text| !text.trim().is_empty())
    })
}

/// Adds the problem of one field, at most one.
fn check(
    problems: &mut FieldProblems,
    parent: &str,
    field: &ApplicationField,
    value: Option<&Value>,
    needed: bool,
) {
    let (path, label) = path_and_label(parent, field.name);
    let Some(value) = non_blank(value) else {
        let sub_code = if field.field_type.word() == "string" { "not_blank" } else { "not_null" };
        return problems.unless(!needed, &path, sub_code, &format!("{label} cannot be blank"));
    };
    if let Some((sub_code, fault)) = fault(field.field_type, value) {
        problems.add(&path, sub_code, &format!("{label} {fault}"));
    }
}

/// Returns the path of a field, and its name for a sentence.
fn path_and_label(parent: &str, name: &str) -> (String, String) {
    let path = if parent.is_empty() { name.to_owned() } else { format!("{parent}.{name}") };
    let words = path.replace(['_', '.'], " ");
    let (first, rest) = words.split_at_checked(1).unwrap_or_default();
    (path, format!("{}{rest}", first.to_uppercase()))
}

type FieldFault = Option<(&'static str, String)>;

/// Returns a problem of a value: a finer code, and the end of a sentence.
fn fault(of: FieldType, value: &Value) -> FieldFault {
    let invalid = |wrong: bool, text: &str| wrong.then(|| ("invalid", text.to_owned()));
    match (of, value) {
        (FieldType::Integer(min, max), value) => match value.as_i64() {
            None => invalid(true, "is not an integer"),
            Some(number) if (min..=max).contains(&number) => None,
            Some(_) => Some(("number_out_of_range", format!("is not between {min} and {max}"))),
        },
        (FieldType::Boolean, value) => invalid(!value.is_boolean(), "is not true or false"),
        (of, Value::String(text)) => text_fault(of, text.trim()),
        (FieldType::Date, _) => invalid(true, "is not a date such as 2026-11-30"),
        (_, _) => invalid(true, "is not a text"),
    }
}

fn text_fault(of: FieldType, text: &str) -> FieldFault {
    let invalid = |wrong: bool, fault: &str| wrong.then(|| ("invalid", fault.to_owned()));
    match of {
        FieldType::Text => encoding_fault(text, false),
        FieldType::Url => encoding_fault(text, true),
        FieldType::Email => {
            invalid(!is_email(text), "is invalid").or_else(|| encoding_fault(text, false))
        }
        FieldType::Phone => too_long(of, text).or_else(|| encoding_fault(text, false)),
        FieldType::PostalCode => postal_fault(text),
        FieldType::State => code_fault(text, "is not a code of two capital letters", |code| {
            code.bytes().all(|byte| byte.is_ascii_uppercase())
        }),
        FieldType::Country => {
            code_fault(text, "is not an ISO 3166 code of two letters", rules::is_country)
        }
        FieldType::Choice(words) => {
            let fault = format!("is not one of {}", words.join(", "));
            (!words.contains(&text)).then_some(("invalid", fault))
        }
        FieldType::Date => invalid(!is_date(text), "is not a date such as 2026-11-30"),
        FieldType::Timestamp => {
            let wrong = DateTime::parse_from_rfc3339(text).is_err();
            invalid(wrong, "is not a time such as 2026-11-30T18:00:00Z")
        }
        FieldType::Signature => signature_fault(text).map(|fault| ("invalid", fault)),
        FieldType::Integer(..) | FieldType::Boolean => None,
    }
}

fn encoding_fault(text: &str, is_address: bool) -> FieldFault {
    let told = |encoding: Encoding| format!("is {}: plain text is needed", encoding.word());
    encoding(text, is_address).map(|encoding| ("invalid", told(encoding)))
}

fn too_long(of: FieldType, text: &str) -> FieldFault {
    let max = of.length_max()?;
    (text.chars().count() > max).then(|| ("invalid_length", "length is invalid".to_owned()))
}

fn postal_fault(text: &str) -> FieldFault {
    let mut problems = FieldProblems::default();
    problems.postal_code("", Some(text));
    let is_length = problems.into_list().pop()?.sub_code == "invalid_length";
    let invalid = ("invalid", "is invalid".to_owned());
    Some(if is_length { ("invalid_length", "length is invalid".to_owned()) } else { invalid })
}

fn code_fault(text: &str, fault: &str, is_known: impl Fn(&str) -> bool) -> FieldFault {
    if text.chars().count() != 2 {
        return Some(("invalid_length", fault.to_owned()));
    }
    (!is_known(text)).then(|| ("invalid", fault.to_owned()))
}

/// Returns whether a text is `yyyy-mm-dd`, with all its digits.
fn is_date(text: &str) -> bool {
    text.len() == 10 && NaiveDate::parse_from_str(text, "%Y-%m-%d").is_ok()
}

const POINTS: [&str; 4] = ["lx", "ly", "mx", "my"];

/// Returns the fault of a signature, as the end of a sentence; `None` for a valid one. Never
/// repeats the text.
pub(crate) fn signature_fault(text: &str) -> Option<String> {
    let Ok(Value::Array(strokes)) = serde_json::from_str(text) else {
        return Some("is not JSON text of an array of strokes".to_owned());
    };
    if strokes.is_empty() {
        return Some("has no stroke".to_owned());
    }
    strokes.iter().zip(1_usize..).find_map(|(stroke, number)| {
        let Some(stroke) = stroke.as_object() else {
            return Some(format!("stroke {number} is not an object"));
        };
        let is_integer =
            |name: &str| stroke.get(name).is_some_and(|value| value.as_i64().is_some());
        let missing = POINTS.iter().find(|name| !is_integer(name))?;
        Some(format!("stroke {number} has no integer {missing}"))
    })
}

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
            let is_unreserved = |c: char| c.is_ascii_alphanumeric() || "-._~".contains(c);
            return !read.chars().all(is_unreserved);
        }
        if bytes.len() == 4 {
            return false;
        }
    }
    false
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
mod tests;
