//! Checks of an application: every problem at once, each at its field.
//!
//! The rules are the table's ([`FIELDS`]) and those that concern several fields. A text of white
//! space counts as missing, as does a null. No message repeats a field's value. A signature has the
//! jSignature format (partner-api, `signature`): JSON text, an array of strokes, each with the
//! integers `lx`, `ly`, `mx` and `my`.

use chrono::{DateTime, NaiveDate};
use serde_json::{Map, Value};

use crate::api::onboarding::application::Submission;
use crate::api::onboarding::encoded_text::{Encoding, encoding};
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
        (FieldType::Integer(min, max), value) => integer_fault(value, min, max),
        (FieldType::Boolean, value) => invalid(!value.is_boolean(), "is not true or false"),
        (of, Value::String(text)) => text_fault(of, text.trim()),
        (FieldType::Date, _) => invalid(true, "is not a date such as 2026-11-30"),
        (_, _) => invalid(true, "is not a text"),
    }
}

fn integer_fault(value: &Value, min: i64, max: i64) -> FieldFault {
    match value.as_i64() {
        None => Some(("invalid", "is not an integer".to_owned())),
        Some(number) if (min..=max).contains(&number) => None,
        Some(_) => Some(("number_out_of_range", format!("is not between {min} and {max}"))),
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
    let problem = problems.into_list().pop()?;
    let is_length = problem.sub_code == "invalid_length";
    let sub_code = if is_length { "invalid_length" } else { "invalid" };
    Some((sub_code, if is_length { "length is invalid" } else { "is invalid" }.to_owned()))
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
