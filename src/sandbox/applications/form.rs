//! The form of a sign-up as HTML, and what comes back from it. Everything but the drawing of a signature works
//! without a script.
//!
//! A secret that was filled in before is not shown again; left empty, it stays as it was.

use serde_json::{Map, Value};

use crate::api::application::{
    FIELDS, Field, FieldType, Need, Privacy, SECOND_OWNER, SECOND_OWNER_FIELDS,
};
use crate::api::rules::FieldProblem;
use crate::sandbox::mail::escape;
use crate::sandbox::pages::marks;

/// Fields that the applicant is not asked for: the partner's own, and what the service sees by itself.
const UNASKED: [&str; 7] = [
    "reference",
    "plan",
    "test",
    "ip_address",
    "ip_address_timestamp",
    "browser_user_agent",
    "browser_language",
];

/// The parts of the form: a heading, and what the names of its fields begin with.
const PARTS: [(&str, &[&str]); 6] = [
    ("You", &["first_name", "last_name", "email"]),
    (
        "Your business",
        &[
            "business_",
            "structure",
            "industry_code",
            "goods_",
            "federal_",
            "years_in_business",
            "past_",
            "bankruptcy_",
        ],
    ),
    ("Trade name", &["has_dba", "dba_"]),
    ("Owner", &["owner_"]),
    ("Bank accounts", &["operating_", "trust_"]),
    ("Signature", &["signed_by", "signature"]),
];
/// The heading of what is in no part.
const OTHER: &str = "More about your business";

/// The form with what is filled in, and what is wrong with it beside each field.
pub(super) fn inner(fields: &Map<String, Value>, problems: &[FieldProblem]) -> String {
    let asked = || FIELDS.iter().filter(|field| !UNASKED.contains(&field.name));
    let form = Form { fields, problems };
    let mut inner = form.notice();
    inner.push_str("<form method=\"post\" novalidate>");
    for (heading, prefixes) in PARTS {
        let of_part =
            asked().filter(|field| prefixes.iter().any(|one| field.name.starts_with(one)));
        inner.push_str(&part(heading, of_part.map(|field| form.input(field.name, field, fields))));
        if heading == "Owner" {
            inner.push_str(&form.second_owner());
        }
    }
    let prefixes = || PARTS.iter().flat_map(|(_, prefixes)| prefixes.iter());
    let others = asked().filter(|field| !prefixes().any(|one| field.name.starts_with(one)));
    inner.push_str(&part(OTHER, others.map(|field| form.input(field.name, field, fields))));
    inner.push_str("<div class=\"actions\"><button>Submit the application</button></div></form>");
    inner
}

/// A heading with its inputs.
fn part(heading: &str, inputs: impl Iterator<Item = String>) -> String {
    let inputs: String = inputs.collect();
    format!("<fieldset><legend>{heading}</legend><div class=\"fields\">{inputs}</div></fieldset>")
}

/// What is filled in, and what is wrong with it.
struct Form<'a> {
    fields: &'a Map<String, Value>,
    problems: &'a [FieldProblem],
}

impl Form<'_> {
    /// How many fields are wrong.
    fn notice(&self) -> String {
        match self.problems.len() {
            0 => "<p class=\"quiet\">Takes about ten minutes. What is marked optional may stay empty.</p>".to_owned(),
            1 => "<p class=\"notice bad\" role=\"alert\">One field is not right yet.</p>".to_owned(),
            many => format!("<p class=\"notice bad\" role=\"alert\">{many} fields are not right yet.</p>"),
        }
    }

    fn second_owner(&self) -> String {
        let empty = Map::new();
        let second = self.fields.get(SECOND_OWNER).and_then(Value::as_object).unwrap_or(&empty);
        let inputs = SECOND_OWNER_FIELDS.iter().map(|field| {
            let name = format!("{SECOND_OWNER}.{}", field.name);
            self.input(&name, field, second)
        });
        part("Second owner, if there is one", inputs)
    }

    /// One labelled input, with what is wrong with it.
    fn input(&self, name: &str, field: &Field, known: &Map<String, Value>) -> String {
        let problem = self.problems.iter().find(|problem| problem.context == name);
        let control = control(name, field, known.get(field.name), problem.is_some());
        let error = problem.map(|problem| {
            let text = escape(&problem.message);
            format!(
                "<span class=\"error\" id=\"{name}-error\" role=\"alert\" data-field=\"{name}\">{text}</span>"
            )
        });
        let (label, wide) = (label(name, field), if is_wide(field) { " wide" } else { "" });
        format!(
            "<div class=\"field{wide}\"><label for=\"{name}\">{label}</label>{control}{}</div>",
            error.unwrap_or_default()
        )
    }
}

/// The words of a field: its name, without what its part says already.
fn label(name: &str, field: &Field) -> String {
    let name = name.rsplit('.').next().unwrap_or(name);
    let text = ["business_", "owner_"].iter().find_map(|prefix| name.strip_prefix(prefix));
    let text = text
        .unwrap_or(name)
        .replace('_', " ")
        .replace("address1", "address")
        .replace("address2", "address, second line");
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    let text: String = first.into_iter().chain(letters).collect();
    let hint =
        if field.need == Need::Optional { " <span class=\"hint\">optional</span>" } else { "" };
    format!("{text}{hint}")
}

fn is_wide(field: &Field) -> bool {
    field.of == FieldType::Signature
}

/// The input itself. A secret that was given before is not shown again.
fn control(name: &str, field: &Field, value: Option<&Value>, is_wrong: bool) -> String {
    let is_secret = field.privacy == Privacy::Secret;
    let known = value.map(shown).filter(|text| !text.is_empty());
    let hint = if is_secret && known.is_some() { " placeholder=\"given\"" } else { "" };
    let value = escape(&known.filter(|_| !is_secret).unwrap_or_default());
    let more = format!("{hint}{}", marks(name, is_wrong));
    match field.of {
        FieldType::Boolean => select(name, &["true", "false"], &value, &more),
        FieldType::Choice(words) => select(name, words, &value, &more),
        FieldType::Signature => {
            format!(
                "<textarea id=\"{name}\" name=\"{name}\" data-signature{more}>{value}</textarea>"
            )
        }
        FieldType::Email => text(name, "email", &value, &more),
        FieldType::Date => text(name, "date", &value, &more),
        FieldType::Integer(..) => text(name, "number", &value, &more),
        FieldType::Text
        | FieldType::Phone
        | FieldType::PostalCode
        | FieldType::Url
        | FieldType::State
        | FieldType::Country
        | FieldType::Timestamp => text(name, "text", &value, &more),
    }
}

fn text(name: &str, kind: &str, value: &str, more: &str) -> String {
    format!("<input id=\"{name}\" name=\"{name}\" type=\"{kind}\" value=\"{value}\"{more}>")
}

fn select(name: &str, words: &[&str], chosen: &str, more: &str) -> String {
    let option = |word: &&str| {
        let mark = if *word == chosen { " selected" } else { "" };
        format!("<option{mark}>{word}</option>")
    };
    let options: String = words.iter().map(option).collect();
    format!("<select id=\"{name}\" name=\"{name}\"{more}><option></option>{options}</select>")
}

/// A value as a text of the form.
fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// What a form brings: what was left empty is not there, and the second owner's inputs are one object.
pub(super) fn read(sent: Value) -> Map<String, Value> {
    let Value::Object(sent) = sent else {
        return Map::new();
    };
    let is_empty = |value: &Value| value.as_str().is_some_and(|text| text.trim().is_empty());
    let mut fields = Map::new();
    let mut second = Map::new();
    for (name, value) in sent.into_iter().filter(|(_, value)| !is_empty(value)) {
        match name.split_once('.') {
            Some((SECOND_OWNER, own)) => second.insert(own.to_owned(), value),
            _ if matches!(name.as_str(), "reference" | "plan" | "test") => None,
            _ => fields.insert(name, value),
        };
    }
    if !second.is_empty() {
        fields.insert(SECOND_OWNER.to_owned(), Value::Object(second));
    }
    fields
}

/// Lays what was sent over what was known.
pub(super) fn merge(fields: &mut Map<String, Value>, sent: Map<String, Value>) {
    for (name, value) in sent {
        match (fields.get_mut(&name), value) {
            (Some(Value::Object(known)), Value::Object(more)) => known.extend(more),
            (_, value) => drop(fields.insert(name, value)),
        }
    }
}
