//! Renders help for authors of documents: the meaning of a kind or a field, and a sealed secret as
//! YAML to paste.

use crate::render::words::{Screen, push_line};
use crate::spec::explain::{Explanation, KindList, KindMeaning};

pub fn explanation(explained: &Explanation, screen: Screen) -> String {
    let Explanation { kind, path, meaning, fields, .. } = explained;
    let dot = if path.is_empty() { "" } else { "." };
    let mut out = screen.bold(&format!("{kind}{dot}{path}"));
    push_line!(out, "\n\n  {meaning}\n");
    for (label, text) in explanation_facts(explained) {
        push_line!(out, "  {label:<9} {text}");
    }
    if !fields.is_empty() {
        push_line!(out, "\n{}", screen.bold("FIELDS"));
    }
    for field in fields {
        push_line!(out, "  {}  {}", screen.bold(&field.path), field_summary(field));
        push_line!(out, "      {}", field.meaning);
    }
    out
}

/// Renders the kinds, one a line.
pub fn kind_list(list: &KindList, screen: Screen) -> String {
    let width = list.kinds.iter().map(|one| one.kind.len()).max().unwrap_or_default();
    let mut out = String::new();
    for KindMeaning { kind, meaning } in &list.kinds {
        push_line!(out, "{}  {meaning}", screen.bold(&format!("{kind:width$}")));
    }
    push_line!(out, "\nnext: `reckon explain KIND`, or `reckon new KIND NAME` for a document");
    out
}

fn explanation_facts(explained: &Explanation) -> Vec<(&'static str, String)> {
    let Explanation { path, value_type: sort, required, change, privacy, allowed, default, .. } =
        explained;
    let mut facts = vec![("type", sort.clone())];
    if !path.is_empty() {
        facts.push(("required", if *required { "yes" } else { "no" }.to_owned()));
    }
    facts.extend((!allowed.is_empty()).then(|| ("allowed", allowed.join(", "))));
    facts.extend(default.iter().map(|default| ("default", default.clone())));
    facts.extend(change.map(|change| ("change", change.to_owned())));
    facts.extend(privacy.map(|privacy| ("privacy", privacy.to_owned())));
    let sources = &explained.sources;
    facts.extend((!sources.is_empty()).then(|| ("source", sources.join("; "))));
    facts
}

fn field_summary(field: &Explanation) -> String {
    let Explanation { value_type: sort, required, change, privacy, .. } = field;
    let mut words = vec![sort.as_str()];
    words.extend(required.then_some("required"));
    let private = |privacy: &&str| *privacy != "plain" && !privacy.eq_ignore_ascii_case(sort);
    words.extend(privacy.filter(private));
    words.extend(change.filter(|change| *change == "in place"));
    words.join(", ")
}

/// Renders the lines that replace `field`, a path below `spec`; `place` is document and field.
pub fn sealed_yaml(place: &str, field: &str, armored: &str) -> String {
    let key = field.rsplit('.').next().unwrap_or(field);
    let document = place.strip_suffix(field).unwrap_or(place).trim_end_matches('/');
    let lines: Vec<String> = armored.lines().map(|line| format!("    {line}\n")).collect();
    let lines = lines.concat();
    format!("# opens in spec.{field} of {document}, and nowhere else\n{key}:\n  age: |\n{lines}")
}

#[cfg(test)]
mod tests;
