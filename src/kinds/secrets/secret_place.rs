//! Secrets of one spec: adds to each source its place, and checks it against the operator's file.
//!
//! A sealed text opens in one place only (design.md part 4). The canonical form therefore carries
//! the field of the text beside the text; the author of the document cannot choose it.

use serde_json::{Map, Value};

use crate::kinds::schema::kind::{CheckCx, Privacy, SpecField, Variables};
use crate::kinds::secrets::field_of;
use crate::model::issue::Issue;

/// Gives every sealed text its field, and returns the issues of sources that the operator's file
/// must declare (`secrets.exec`, `secrets.env`), where it is known.
pub(crate) fn resolve_places(fields: &[SpecField], spec: &mut Value, cx: &CheckCx) -> Vec<Issue> {
    let mut issues = Vec::new();
    // Most documents have no source, and a tree may hold very many documents.
    if !has_source(spec) {
        return issues;
    }
    walk("spec", spec, &mut |path, source| {
        let private = field_of(fields, path).is_some_and(|one| one.privacy == Privacy::Secret);
        if private {
            issues.extend(set_place(path, source));
            issues.extend(program_issue(path, source, cx.programs.as_deref()));
            issues.extend(variable_issue(path, source, cx.variables.as_ref()));
        }
    });
    issues
}

fn has_source(value: &Value) -> bool {
    match value {
        Value::Object(map) => {
            ["age", "env", "exec", "field"].iter().any(|name| map.contains_key(*name))
                || map.values().any(has_source)
        }
        Value::Array(items) => items.iter().any(has_source),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn walk(path: &str, value: &mut Value, visit: &mut dyn FnMut(&str, &mut Map<String, Value>)) {
    match value {
        Value::Object(map) => {
            visit(path, map);
            for (name, value) in map {
                walk(&format!("{path}.{name}"), value, visit);
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter_mut().enumerate() {
                walk(&format!("{path}[{at}]"), item, visit);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Sets the field of a sealed text; a field that was written by hand is an error.
fn set_place(path: &str, source: &mut Map<String, Value>) -> Option<Issue> {
    let written = source.shift_remove("field").map(|_| {
        let message = "the place of a sealed text is its own field, and cannot be written";
        let path = format!("{path}.field");
        Issue::error("reckon::spec::unknown_field", &path, message, "leave it out").underline_key()
    });
    if source.contains_key("age") {
        let field = path.strip_prefix("spec.").unwrap_or(path);
        source.insert("field".to_owned(), Value::from(field));
    }
    written
}

/// Checks a program. Its name is not repeated: a secret may have been put in its place.
fn program_issue(
    path: &str,
    source: &Map<String, Value>,
    programs: Option<&[String]>,
) -> Option<Issue> {
    let name = source.get("exec").and_then(Value::as_str)?;
    let known = programs?;
    if known.iter().any(|one| one == name) {
        return None;
    }
    let message = "reckon.yaml declares no program of this name";
    let names: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    let declare =
        "declare it beneath `secrets` in reckon.yaml: `exec: {NAME: [PROGRAM, ARGUMENT]}`";
    let help = match names.as_slice() {
        [] => declare.to_owned(),
        names => format!("write {}, or {declare}", names.join(" or ")),
    };
    Some(Issue::error("reckon::secret::exec_unknown", path, message, help))
}

/// Checks a variable against `secrets.env`. Its name, perhaps a secret itself, is not repeated.
fn variable_issue(
    path: &str,
    source: &Map<String, Value>,
    variables: Option<&Variables>,
) -> Option<Issue> {
    let name = source.get("env").and_then(Value::as_str)?;
    if variables?.is_open(name) {
        return None;
    }
    let message = "reckon.yaml does not open this variable to specs";
    let help = "open it in reckon.yaml: `secrets: {env: [NAME]}`; a variable that reckon.yaml reads itself stays closed";
    Some(Issue::error("reckon::secret::env_closed", path, message, help))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use crate::kinds::schema::kind::{CheckCx, EnvPattern, Variables};
    use crate::kinds::testing::{cx, lines, read_in};

    const SEALED: &str = "-----BEGIN AGE ENCRYPTED FILE-----\\nYWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IFgyNTUxOSBhCg==\\n-----END AGE ENCRYPTED FILE-----";

    fn card(source: &str) -> String {
        format!(
            "merchant: a\ntype: card\nsource: {{card: {{number: {source}, exp_month: 1, exp_year: 31}}}}"
        )
    }

    #[test]
    fn a_sealed_text_carries_the_field_in_which_it_stands() {
        let read = read_in("SavedMethod", &card(&format!("{{age: \"{SEALED}\"}}")), &cx()).unwrap();
        assert_eq!(lines(&read.issues), "");
        let field = read.spec.pointer("/source/card/number/field").unwrap();
        assert_eq!(field, "source.card.number");
    }

    #[test]
    fn nobody_writes_where_a_sealed_text_stands() {
        let source = format!("{{age: \"{SEALED}\", field: credentials.access_token}}");
        let read = read_in("SavedMethod", &card(&source), &cx()).unwrap();
        assert!(
            lines(&read.issues)
                .starts_with("reckon::spec::unknown_field @ spec.source.card.number.field (key)"),
            "{}",
            lines(&read.issues)
        );
        assert_eq!(read.spec.pointer("/source/card/number/field").unwrap(), "source.card.number");
    }

    #[test]
    fn a_program_is_one_that_the_operator_declared_where_that_is_known() {
        let spec = card("{exec: card-of-jane}");
        let told = |programs: Option<&[&str]>| {
            let programs =
                programs.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
            lines(&read_in("SavedMethod", &spec, &CheckCx { programs, ..cx() }).unwrap().issues)
        };
        assert_eq!(told(None), "");
        assert_eq!(told(Some(&["other", "card-of-jane"])), "");
        assert_eq!(
            told(Some(&["other"])),
            "reckon::secret::exec_unknown @ spec.source.card.number: reckon.yaml declares no program of this name | \
             write `other`, or declare it beneath `secrets` in reckon.yaml: `exec: {NAME: [PROGRAM, ARGUMENT]}`"
        );
        assert!(told(Some(&[])).ends_with(
            "| declare it beneath `secrets` in reckon.yaml: `exec: {NAME: [PROGRAM, ARGUMENT]}`"
        ));
    }

    /// Closes the item of C: `validate` passed a variable that `secrets.env` does not open.
    #[test]
    fn a_variable_is_one_that_the_operator_opened_where_that_is_known() {
        let issues = |name: &str, variables: Option<Variables>| {
            let spec = card(&format!("{{env: {name}}}"));
            lines(&read_in("SavedMethod", &spec, &CheckCx { variables, ..cx() }).unwrap().issues)
        };
        let open = || {
            let patterns = vec![EnvPattern::Prefix("CARD_".to_owned())];
            Some(Variables::new(patterns, BTreeSet::from(["CARD_OWN".to_owned()])))
        };
        assert_eq!(issues("HOME", None), "");
        assert_eq!(issues("CARD_JANE", open()), "");
        for closed in ["HOME", "CARD_OWN"] {
            let found = issues(closed, open());
            assert!(
                found.starts_with("reckon::secret::env_closed @ spec.source.card.number: "),
                "{found}"
            );
        }
    }
}
