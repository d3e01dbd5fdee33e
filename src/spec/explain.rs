//! Explains a kind and its fields, from the kind's table and the schema of its types, and finds a
//! field as people name it: `schedule.start`, `spec.schedule.start`, `line_items[0].description`.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::base::wording;
use crate::kinds::row::KindRow;
use crate::kinds::schema::kind::{Privacy, SpecField};
pub(crate) use crate::kinds::secrets::is_beneath;
use crate::kinds::secrets::without_positions;

/// A kind, or one of its fields.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Explanation {
    pub kind: &'static str,
    /// The path below `spec`; empty for the kind itself.
    pub path: String,
    pub meaning: String,
    /// The type of the value, in words.
    #[serde(rename = "type")]
    pub value_type: String,
    /// True if the surrounding mapping must contain the field.
    pub required: bool,
    /// The way in which a change is applied; the kind itself has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<&'static str>,
    /// The privacy of the value; the kind itself has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub privacy: Option<&'static str>,
    /// The possible values, where they are few.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allowed: Vec<String>,
    /// The value where the field is left out, if that is always the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// A variable may hold the value, as `{env: NAME}`; in `reckon.yaml` alone.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub from_variable: bool,
    /// The sources: documents and their parts.
    pub sources: Vec<String>,
    /// The fields beneath this one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<Explanation>,
}

/// The explicable kinds, each with its meaning alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct KindList {
    pub kinds: Vec<KindMeaning>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct KindMeaning {
    pub kind: &'static str,
    pub meaning: String,
}

/// Returns a kind with the meaning that its types declare.
pub fn kind_meaning(row: &KindRow) -> KindMeaning {
    let Explanation { kind, meaning, .. } = of_kind(row, &(row.schema)(), Vec::new());
    KindMeaning { kind, meaning }
}

/// Explains a kind, or the field at `path`.
///
/// # Errors
/// There is no such field; the text names the closest ones.
pub fn explain(row: &KindRow, path: &str) -> Result<Explanation, String> {
    let schema = (row.schema)();
    if below_spec(path).is_empty() {
        let beneath = row.fields.iter().map(|field| of_field(row, &schema, field)).collect();
        return Ok(of_kind(row, &schema, beneath));
    }
    let field = find_field(row.fields, path)?;
    let beneath = row.fields.iter().filter(|other| is_beneath(other.path, field.path));
    let fields = beneath.map(|field| of_field(row, &schema, field)).collect();
    Ok(Explanation { fields, ..of_field(row, &schema, field) })
}

fn of_kind(row: &KindRow, schema: &Value, fields: Vec<Explanation>) -> Explanation {
    let text = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let (meaning, sources) = split_sources(text);
    Explanation {
        kind: row.name,
        meaning,
        value_type: type_name(schema),
        required: true,
        sources,
        fields,
        ..Explanation::default()
    }
}

pub(crate) fn of_field(row: &KindRow, schema: &Value, field: &SpecField) -> Explanation {
    let (meaning, sources) = split_sources(field.doc);
    let (parent, name) = field.path.rsplit_once('.').unwrap_or(("", field.path));
    let around = schema_at(schema, parent);
    let own = schema_at(schema, field.path);
    let required = around.and_then(|around| around.get("required")).and_then(Value::as_array);
    Explanation {
        kind: row.name,
        path: field.path.to_owned(),
        meaning,
        value_type: own.map(type_name).unwrap_or_default(),
        required: required.is_some_and(|names| names.iter().any(|one| one == name)),
        change: Some(field.mutability.words()),
        privacy: Some(field.privacy.words()),
        allowed: own.map(allowed_values).unwrap_or_default(),
        default: default_text(own),
        sources,
        ..Explanation::default()
    }
}

/// Returns the default of a schema as a person writes it.
pub(crate) fn default_text(schema: Option<&Value>) -> Option<String> {
    let default = schema?.get("default")?;
    Some(default.as_str().map_or_else(|| default.to_string(), str::to_owned))
}

/// Splits a text of a table into its meaning, and the sources in brackets at its end.
fn split_sources(doc: &str) -> (String, Vec<String>) {
    let doc = doc.trim().trim_end_matches('.');
    let cut = doc.strip_suffix(')').and_then(|rest| rest.rsplit_once(" ("));
    let Some((meaning, sources)) = cut else { return (format!("{doc}."), Vec::new()) };
    let sources = sources.split("; ").map(str::to_owned).collect();
    (format!("{meaning}."), sources)
}

/// Returns the schema of a path in the form of the tables.
fn schema_at<'a>(schema: &'a Value, path: &str) -> Option<&'a Value> {
    let mut place = without_null(schema);
    for name in path.split('.').filter(|name| !name.is_empty()) {
        let (name, items) = name
            .split_once('[')
            .map_or((name, 0), |(name, rest)| (name, rest.matches(']').count()));
        place = without_null(place).get("properties")?.get(name)?;
        for _ in 0..items {
            place = without_null(place).get("items")?;
        }
    }
    Some(place)
}

/// Returns the schema without its `null` alternative.
pub(crate) fn without_null(schema: &Value) -> &Value {
    let choices = schema.get("anyOf").and_then(Value::as_array);
    let nothing = |choice: &&Value| choice.get("type") == Some(&Value::from("null"));
    match choices.map(Vec::as_slice) {
        Some([one, other]) if nothing(&other) => one,
        Some(_) | None => schema,
    }
}

pub(crate) fn type_name(schema: &Value) -> String {
    let schema = without_null(schema);
    if let Some(title) = schema.get("title").and_then(Value::as_str) {
        return title.to_owned();
    }
    if schema.get("enum").is_some() {
        return "word".to_owned();
    }
    match type_word(schema.get("type")) {
        "string" => "text".to_owned(),
        "integer" => "whole number".to_owned(),
        "boolean" => "true or false".to_owned(),
        "object" => "mapping".to_owned(),
        "array" => {
            format!("list of {}", plural(schema.get("items").map(type_name).unwrap_or_default()))
        }
        other => other.to_owned(),
    }
}

fn plural(noun: String) -> String {
    if noun.ends_with('s') { noun + "es" } else { noun + "s" }
}

/// Returns the first word of a schema's `type` that is not `null`.
fn type_word(sort: Option<&Value>) -> &str {
    match sort {
        Some(Value::String(word)) => word,
        Some(Value::Array(words)) => {
            words.iter().filter_map(Value::as_str).find(|word| *word != "null").unwrap_or_default()
        }
        _ => "",
    }
}

/// Returns the possible words, or the forms of a secret.
fn allowed_values(schema: &Value) -> Vec<String> {
    let schema = without_null(schema);
    let words = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
    let words = words.filter_map(Value::as_str).map(str::to_owned);
    let choices = schema.get("anyOf").and_then(Value::as_array).into_iter().flatten();
    let forms = choices.filter_map(|choice| choice.pointer("/required/0")?.as_str());
    words.chain(forms.map(|name| format!("{{{name}: …}}"))).collect()
}

/// Returns the path without `spec.` at its beginning.
pub fn below_spec(text: &str) -> &str {
    match text.strip_prefix("spec") {
        Some("") => "",
        Some(rest) => rest.strip_prefix('.').unwrap_or(text),
        None => text,
    }
}

/// Returns the path in the form of the tables: any index of a sequence is `[]`.
pub fn table_path(text: &str) -> String {
    without_positions(below_spec(text))
}

/// Returns the path without any index, as people ask for a field's meaning.
fn without_indices(path: &str) -> String {
    table_path(path).replace("[]", "")
}

/// Finds the field that a person names.
///
/// # Errors
/// The text to write instead.
pub fn find_field<'a>(fields: &'a [SpecField], text: &str) -> Result<&'a SpecField, String> {
    let asked = without_indices(text);
    let found = fields.iter().find(|field| without_indices(field.path) == asked);
    found.ok_or_else(|| {
        wording::suggestion_help(&asked, sibling_paths(fields, &asked).iter().map(String::as_str))
    })
}

/// Returns the siblings of the requested field: those beneath its nearest existing parent.
fn sibling_paths(fields: &[SpecField], asked: &str) -> Vec<String> {
    let all: Vec<String> = fields.iter().map(|field| without_indices(field.path)).collect();
    let mut parents = asked.match_indices('.').filter_map(|(at, _)| asked.get(..at));
    let parent = parents.rfind(|parent| all.iter().any(|path| path == parent));
    let beneath = |path: &String| match parent {
        Some(parent) => path
            .strip_prefix(parent)
            .and_then(|rest| rest.strip_prefix('.'))
            .is_some_and(|rest| !rest.contains('.')),
        None => !path.contains('.'),
    };
    all.iter().filter(|path| beneath(path)).cloned().collect()
}

/// Finds the place of a secret by its whole path, or by a last word that only one secret has.
///
/// # Errors
/// The text to write instead.
pub fn secret_place(fields: &[SpecField], text: &str) -> Result<String, String> {
    let secret = || fields.iter().filter(|field| field.privacy == Privacy::Secret);
    let place = below_spec(text);
    if secret().any(|field| field.path == table_path(place) && !place.contains("[]")) {
        return Ok(place.to_owned());
    }
    let last = |path: &'static str| path.rsplit('.').next() == Some(place);
    let named: Vec<_> = secret().filter(|field| last(field.path)).collect();
    if let [only] = named.as_slice()
        && !only.path.contains("[]")
    {
        return Ok(only.path.to_owned());
    }
    let items: Vec<String> = secret().map(|field| field.path.replace("[]", "[0]")).collect();
    Err(match items.as_slice() {
        [] => "this kind has no secret field".to_owned(),
        items => wording::suggestion_help(place, items.iter().map(String::as_str)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::register::{KINDS, find};

    fn field(kind: &str, path: &str) -> Explanation {
        explain(find(kind).unwrap(), path).unwrap()
    }

    #[test]
    fn every_field_of_every_kind_has_a_meaning_a_sort_and_a_source() {
        for row in KINDS {
            let kind = explain(row, "").unwrap();
            assert_eq!(kind.fields.len(), row.fields.len(), "{}", row.name);
            assert_eq!(kind.value_type, "mapping", "{}", row.name);
            for field in &kind.fields {
                assert!(
                    !field.value_type.is_empty() && !field.value_type.ends_with(" s"),
                    "{field:?}"
                );
                assert!(field.meaning.len() > 4 && !field.sources.is_empty(), "{field:?}");
            }
        }
    }

    #[test]
    fn a_field_says_what_its_type_and_its_table_say() {
        let unit = field("RecurringCharge", "schedule.interval_unit");
        assert_eq!(unit.allowed, ["DAY", "WEEK", "MONTH"]);
        assert_eq!((unit.value_type.as_str(), unit.required), ("word", true));
        assert_eq!(unit.sources, ["service-facts, 58"]);
        let lines = field("Invoice", "line_items");
        assert_eq!((lines.value_type.as_str(), lines.fields.len()), ("list of mappings", 4));
        let rate = field("Invoice", "spec.line_items[0].rate_per_quantity");
        assert_eq!(
            (rate.path.as_str(), rate.value_type.as_str()),
            ("line_items[].rate_per_quantity", "amount")
        );
        let quantity = field("Invoice", "line_items.quantity");
        assert_eq!((quantity.default.as_deref(), quantity.required), (Some("1"), false));
        let code = field("Merchant", "credentials.authorization_code");
        assert_eq!((code.value_type.as_str(), code.privacy), ("SECRET", Some("secret")));
        assert_eq!(code.allowed, ["{env: …}", "{file: …}", "{exec: …}", "{age: …}"]);
        assert_eq!(field("Contact", "").meaning, "Contact of a merchant, who receives invoices.");
    }

    #[test]
    fn a_name_that_does_not_exist_is_told_with_the_nearest() {
        let row = find("RecurringCharge").unwrap();
        assert_eq!(explain(row, "shedule").unwrap_err(), "did you mean `schedule`?");
        assert_eq!(explain(row, "schedule.strt").unwrap_err(), "did you mean `schedule.start`?");
    }
}

#[cfg(test)]
mod field_path_tests {
    use super::*;
    use crate::kinds::schema::kind::Mutability;

    const fn field(path: &'static str, privacy: Privacy) -> SpecField {
        SpecField { path, privacy, mutability: Mutability::Immutable, doc: "" }
    }

    const FIELDS: &[SpecField] = &[
        field("merchant", Privacy::Plain),
        field("source", Privacy::Plain),
        field("source.number", Privacy::Secret),
        field("lines", Privacy::Plain),
        field("lines[].text", Privacy::Plain),
        field("lines[].number", Privacy::Secret),
        field("birth_date", Privacy::Secret),
    ];

    #[test]
    fn a_field_is_found_however_it_is_written() {
        for text in ["lines.text", "lines[].text", "spec.lines[3].text"] {
            assert_eq!(find_field(FIELDS, text).unwrap().path, "lines[].text", "{text}");
        }
        assert_eq!(find_field(FIELDS, "lines.txt").unwrap_err(), "did you mean `lines.text`?");
        assert_eq!(find_field(FIELDS, "merchnt").unwrap_err(), "did you mean `merchant`?");
        assert_eq!(
            find_field(FIELDS, "lines.zzz").unwrap_err(),
            "write one of `lines.text` or `lines.number`"
        );
        assert_eq!(
            find_field(FIELDS, "zzz").unwrap_err(),
            "write one of `merchant`, `source`, `lines` or `birth_date`"
        );
    }

    #[test]
    fn a_secret_has_one_place() {
        for (text, place) in [
            ("source.number", "source.number"),
            ("spec.source.number", "source.number"),
            ("lines[2].number", "lines[2].number"),
            ("birth_date", "birth_date"),
        ] {
            assert_eq!(secret_place(FIELDS, text).as_deref(), Ok(place), "{text}");
        }
        for text in ["number", "lines.number", "lines[].number", "merchant", "source", ""] {
            assert!(secret_place(FIELDS, text).is_err(), "{text}");
        }
        assert_eq!(secret_place(&FIELDS[1..3], "number").as_deref(), Ok("source.number"));
        assert_eq!(secret_place(FIELDS, "birthdate").unwrap_err(), "did you mean `birth_date`?");
    }
}
