//! Renders everything about one resource. Renders help for authors of documents, too: the meaning of a kind or a field, and a sealed secret as YAML to paste.

use serde_json::Value;

use crate::base::wording::count_noun;
use crate::engine::protocol::payers::{PaymentView, PaymentsView};
use crate::engine::protocol::views::{Confidence, ResourceView};
use crate::model::state::health::Condition;
use crate::render::words::{
    Screen, clean, file_place, format_amount, or_not_known, push_line, resource_key, value_text,
    wrap,
};
use crate::spec::explain::{Explanation, KindList, KindMeaning};

const SENTENCE_WIDTH: usize = 76;
const LABEL_WIDTH: usize = 16;

pub fn describe(item: &ResourceView, screen: Screen) -> String {
    let mut out = screen.bold(&resource_key(&item.kind, &item.namespace, &item.name));
    out.push('\n');
    let ready = if item.ready { "yes".to_owned() } else { format!("no ({})", clean(&item.reason)) };
    fact(&mut out, screen, "Ready", &ready);
    sentence(&mut out, screen, "Why", &item.message);
    for condition in &item.conditions {
        let Condition { kind, status, reason, message: _, since } = condition;
        let since = since.as_ref().map_or_else(String::new, |at| format!(" since {}", clean(at)));
        fact(
            &mut out,
            screen,
            kind.word(),
            &format!("{}{since}: {}", status.word(), clean(reason)),
        );
    }
    payments(&mut out, screen, item.payments.as_deref());
    fact(&mut out, screen, "Next", verdict_meaning(&item.verdict));
    let place = file_place(item.file.as_deref(), item.line);
    fact(&mut out, screen, "Document", &place.unwrap_or_else(|| "none".to_owned()));
    fact(&mut out, screen, "Remote id", &or_not_known(item.remote_id.as_deref()));
    observation(&mut out, screen, item);
    if item.possible_orphans > 0 {
        let times = count_noun(item.possible_orphans, "time");
        let text = format!(
            "created again {times} without proof that the earlier try had failed; look for \
            duplicates at the service (`reckon intents` lists them)"
        );
        sentence(&mut out, screen, "Doubles", &text);
    }
    facts(&mut out, screen, item);
    out
}

fn payments(out: &mut String, screen: Screen, payments: Option<&PaymentsView>) {
    let Some(PaymentsView { last, failures, next }) = payments else { return };
    if let Some(PaymentView { id, result, amount, currency, reason, at }) = last {
        let money =
            amount.zip(currency.as_deref()).map_or_else(String::new, |(amount, currency)| {
                format!("{} ", format_amount(amount, currency))
            });
        let why = reason.as_ref().map_or_else(String::new, |why| format!(" ({})", clean(why)));
        let row = match failures {
            0 => String::new(),
            count => format!("; {} failed in a row", count_noun(*count, "payment")),
        };
        let text = format!("{money}{} at {}{why}, {}{row}", result.word(), clean(at), clean(id));
        sentence(out, screen, "Last payment", &text);
    }
    if let Some(next) = next {
        fact(out, screen, "Next payment", &clean(next));
    }
}

fn observation(out: &mut String, screen: Screen, item: &ResourceView) {
    if let Some(time) = &item.verified_at {
        let text = format!("at {}: the service shows the known values", clean(time));
        return sentence(out, screen, "Verified", &text);
    }
    let Some(time) = &item.last_known else { return };
    let worth = match item.confidence {
        Some(Confidence::CannotBeVerified) => {
            "the service does not show it, so it cannot be verified"
        }
        Some(Confidence::Verified | Confidence::LastKnown) | None => "later changes are not seen",
    };
    sentence(out, screen, "Last known", &format!("at {}; {worth}", clean(time)));
}

fn verdict_meaning(verdict: &str) -> &str {
    match verdict {
        "settled" => "nothing",
        "create" => "it is created at the service",
        "update" => "it is changed at the service",
        "delete" => "it is removed from the service",
        "read" => "it is read from the service",
        "orphan" => "nothing: its document is gone and the object stays",
        "wait" => "nothing until its dependencies are ready",
        "blocked" => "nothing until you change something",
        other => other,
    }
}

fn facts(out: &mut String, screen: Screen, item: &ResourceView) {
    if item.facts.is_empty() {
        return;
    }
    push_line!(out, "  {}", screen.dim("Facts"));
    let mut leaves = Vec::new();
    for (name, value) in &item.facts {
        flatten(name, value, &mut leaves);
    }
    for (path, value) in leaves {
        push_line!(out, "    {}: {value}", clean(&path));
    }
}

/// Collects the leaves of a value with their paths.
fn flatten(path: &str, found: &Value, leaves: &mut Vec<(String, String)>) {
    if let Some(fields) = found.as_object().filter(|fields| !fields.is_empty()) {
        for (name, found) in fields {
            flatten(&format!("{path}.{name}"), found, leaves);
        }
    } else if let Some(items) = found.as_array().filter(|items| !items.is_empty()) {
        for (place, found) in items.iter().enumerate() {
            flatten(&format!("{path}[{place}]"), found, leaves);
        }
    } else {
        leaves.push((path.to_owned(), value_text(found)));
    }
}

fn fact(out: &mut String, screen: Screen, label: &str, text: &str) {
    let label = screen.dim(&format!("{label:LABEL_WIDTH$}"));
    push_line!(out, "  {label}{text}");
}

/// Renders a sentence of a description, over several lines if needed.
fn sentence(out: &mut String, screen: Screen, label: &str, text: &str) {
    for (number, row) in wrap(text, SENTENCE_WIDTH).iter().enumerate() {
        fact(out, screen, if number == 0 { label } else { "" }, row);
    }
}

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
