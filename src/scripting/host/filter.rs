//! Filters of `find`: every named field exists, and is open to scripts.

use serde_json::Value;

use super::privacy::privacy_of_field;
use crate::base::wording::{nearest, suggestion_help};
use crate::kinds::register;
use crate::kinds::register::KindRow;
use crate::kinds::schema::kind::{Privacy, SpecField};
use crate::kinds::secrets::redact::names_beneath;
use crate::policy::ScriptPower;

/// Fields of a resource as scripts see it.
const FIELDS: [&str; 9] =
    ["kind", "namespace", "name", "labels", "spec", "ready", "reason", "message", "remote_id"];
/// Field with the content of the document.
const SPEC: &str = "spec";
/// Field with freely chosen names.
const LABELS: &str = "labels";

/// Position of a filter's field: the names above it.
pub(crate) type FieldPath<'a> = [&'a str];

/// Returns the problem with a field of a kind at this position, and its fix. `persons` is set if
/// personal values are open.
pub(crate) fn field_problem(
    kind: &str,
    above: &FieldPath<'_>,
    name: &str,
    persons: bool,
) -> Option<(String, String)> {
    let row = register::find(kind);
    match above {
        [] if !FIELDS.contains(&name) => Some(unknown_field(row, kind, name)),
        [] | [LABELS, ..] => None,
        [SPEC, ..] => spec_field_problem(row?, above, name, persons),
        [field, ..] => {
            let message = format!("`{field}` of a resource has no fields: it is one value");
            Some((message, format!("write `{field}: …`")))
        }
    }
}

/// Returns the problem with a field that no resource has, but perhaps its document.
fn unknown_field(row: Option<&KindRow>, kind: &str, name: &str) -> (String, String) {
    let message = format!("a resource has no field `{name}`");
    let spec = row.map(|row| names_beneath(row.fields, SPEC)).unwrap_or_default();
    if spec.contains(&name) {
        return (
            message,
            format!("write `#{{spec: #{{{name}: …}}}}`: the document of {kind} has it"),
        );
    }
    let all: Vec<&str> = FIELDS.into_iter().chain(spec.iter().copied()).collect();
    let near = nearest(name, all);
    let help = match near {
        Some(near) if !FIELDS.contains(&near) => {
            format!("did you mean `#{{spec: #{{{near}: …}}}}`?")
        }
        _ => suggestion_help(name, FIELDS),
    };
    (message, help)
}

fn spec_field_problem(
    row: &KindRow,
    above: &FieldPath<'_>,
    name: &str,
    persons: bool,
) -> Option<(String, String)> {
    let place = above.join(".");
    let names = names_beneath(row.fields, &place);
    if !names.is_empty() && !names.contains(&name) {
        let message = format!("`{place}` of {} has no field `{name}`", row.name);
        return Some((message, suggestion_help(name, sorted_unique(names))));
    }
    closed_field_problem(row.fields, &format!("{place}.{name}"), persons)
}

fn sorted_unique(mut names: Vec<&'static str>) -> Vec<&'static str> {
    names.sort_unstable();
    names.dedup();
    names
}

/// Returns the problem with a field that is closed to scripts: a filter on it would reveal its
/// value.
fn closed_field_problem(
    fields: &[SpecField],
    path: &str,
    persons: bool,
) -> Option<(String, String)> {
    match privacy_of_field(fields, path) {
        Privacy::Plain => None,
        Privacy::Personal if persons => None,
        Privacy::Personal => {
            let (message, help) = ScriptPower::Personal.refusal(None);
            Some((format!("`{path}` is personal: {message}"), help))
        }
        Privacy::Secret => {
            let help = "leave it out: the document has a name to look for";
            Some((format!("`{path}` is secret: no script sees it"), help.to_owned()))
        }
    }
}

/// Checks a filter of `find`.
///
/// # Errors
///
/// The first problem, and its fix.
pub(crate) fn check(kind: &str, filter: &Value, persons: bool) -> Result<(), String> {
    check_fields(kind, &mut Vec::new(), filter, persons)
}

fn check_fields<'v>(
    kind: &str,
    above: &mut Vec<&'v str>,
    filter: &'v Value,
    persons: bool,
) -> Result<(), String> {
    for (name, value) in filter.as_object().into_iter().flatten() {
        if let Some((message, help)) = field_problem(kind, above, name, persons) {
            return Err(format!("{message}; {help}"));
        }
        above.push(name);
        check_fields(kind, above, value, persons)?;
        above.pop();
    }
    Ok(())
}
