//! Renders help for authors of documents: the meaning of a kind or a field, and a sealed secret as
//! YAML to paste.

use crate::render::words::{Paint, push_line};
use crate::spec::explain::Explanation;

pub fn explanation(explained: &Explanation, color: bool) -> String {
    let paint = Paint { color };
    let Explanation { kind, path, meaning, fields, .. } = explained;
    let dot = if path.is_empty() { "" } else { "." };
    let mut out = String::new();
    push_line!(out, "{}", paint.bold(&format!("{kind}{dot}{path}")));
    push_line!(out, "\n  {meaning}\n");
    for (label, text) in explanation_facts(explained) {
        push_line!(out, "  {label:<9} {text}");
    }
    if !fields.is_empty() {
        push_line!(out, "\n{}", paint.bold("FIELDS"));
    }
    for field in fields {
        push_line!(out, "  {}  {}", paint.bold(&field.path), field_summary(field));
        push_line!(out, "      {}", field.meaning);
    }
    out
}

/// Returns the known facts with their labels.
fn explanation_facts(explained: &Explanation) -> Vec<(&'static str, String)> {
    let Explanation {
        path,
        value_type: sort,
        required,
        change,
        privacy,
        allowed,
        default,
        sources,
        ..
    } = explained;
    let mut facts = vec![("type", sort.clone())];
    if !path.is_empty() {
        facts.push(("required", if *required { "yes" } else { "no" }.to_owned()));
    }
    facts.extend((!allowed.is_empty()).then(|| ("allowed", allowed.join(", "))));
    facts.extend(default.iter().map(|default| ("default", default.clone())));
    facts.extend(change.map(|change| ("change", change.to_owned())));
    facts.extend(privacy.map(|privacy| ("privacy", privacy.to_owned())));
    facts.extend((!sources.is_empty()).then(|| ("source", sources.join("; "))));
    facts
}

/// Renders a field's type and its special properties in one line.
fn field_summary(field: &Explanation) -> String {
    let Explanation { value_type: sort, required, change, privacy, .. } = field;
    let mut words = vec![sort.as_str()];
    words.extend(required.then_some("required"));
    let private = |privacy: &&str| *privacy != "plain" && !privacy.eq_ignore_ascii_case(sort);
    words.extend(privacy.filter(private));
    words.extend(change.filter(|change| *change == "in place"));
    words.join(", ")
}

/// Renders the lines that replace the field. `place` is the document and field of the text, and
/// `field` is the path below `spec`.
pub fn sealed_yaml(place: &str, field: &str, armored: &str) -> String {
    let key = field.rsplit('.').next().unwrap_or(field);
    let document = place.strip_suffix(field).unwrap_or(place).trim_end_matches('/');
    let lines: Vec<String> = armored.lines().map(|line| format!("    {line}\n")).collect();
    let lines = lines.concat();
    format!("# opens in spec.{field} of {document}, and nowhere else\n{key}:\n  age: |\n{lines}")
}

#[cfg(test)]
mod tests {

    #[test]
    fn what_is_printed_can_be_pasted() {
        let yaml = super::sealed_yaml(
            "SavedMethod/default/jane/source.card.number",
            "source.card.number",
            "a\nb\n",
        );
        let read: serde_json::Value = serde_yaml::from_str(&yaml).unwrap();
        assert_eq!(read, serde_json::json!({"number": {"age": "a\nb\n"}}));
        assert!(yaml.starts_with(
            "# opens in spec.source.card.number of SavedMethod/default/jane, and nowhere else\n"
        ));
    }
}
