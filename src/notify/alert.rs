//! The content of an alert, as data and as text: the same for every target. Pure.
//!
//! A list has at most [`ITEMS_MAX`] lines; the rest is counted. No line holds a value of a document.

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::{Value, json};
use serde_with::skip_serializing_none;

use crate::base::clock::timestamp;
use crate::base::id::Mode;
use crate::model::alerts::{AlertChoices, AlertClass, RECOVERED};

/// Lines of a message, at most.
pub const ITEMS_MAX: usize = 20;
/// The name of the form of the data.
const FORM: &str = "alert.v1";
const MORE: &str = "reckon get --not-ready";

/// A target with `alerts`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlertTarget {
    pub name: String,
    pub choices: AlertChoices,
    /// True if its receiver is a program, which gets the content as data.
    pub is_program: bool,
}

/// The content of one message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AlertContent {
    pub partner: String,
    /// Live, if any merchant of the documents is.
    pub mode: Mode,
    pub at: DateTime<Utc>,
    /// The number of changes of each class, the most urgent first.
    pub counts: Vec<(AlertClass, usize)>,
    pub recovered: usize,
    /// The first changes, the most urgent first.
    pub items: Vec<AlertItem>,
    /// The number of changes that are not listed.
    pub omitted: usize,
}

/// The change of one resource.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AlertItem {
    /// `KIND/NAME`.
    pub resource: String,
    /// A class, or the word for the end of a problem.
    pub class: &'static str,
    /// The class that was reported before.
    pub before: Option<AlertClass>,
    /// The merchant that it belongs to, as `Merchant/acme`.
    pub merchant: Option<String>,
    pub file: Option<String>,
    pub line: Option<usize>,
    /// A CamelCase word, as in `reckon get`.
    pub reason: &'static str,
    /// A sentence.
    pub message: String,
}

/// Returns the body for a program: a map with the name of its form.
pub fn alert_data(content: &AlertContent) -> Value {
    let AlertContent { partner, mode, at, counts, recovered, items, omitted } = content;
    let mut all: serde_json::Map<String, Value> =
        counts.iter().map(|(class, count)| (class.word().to_owned(), json!(count))).collect();
    if *recovered > 0 {
        all.insert(RECOVERED.to_owned(), json!(recovered));
    }
    json!({
        "form": FORM, "partner": partner, "mode": mode, "at": timestamp(at), "counts": all,
        "items": items, "omitted": omitted,
    })
}

/// Returns one line with the counts: the subject of a mail, and the first line of a text.
pub fn alert_subject(content: &AlertContent) -> String {
    let counts = content.counts.iter().map(|(class, count)| format!("{count} {}", label(*class)));
    let recovered = Some(content.recovered).filter(|count| *count > 0);
    let recovered = recovered.map(|count| format!("{count} {RECOVERED}"));
    let counts: Vec<String> = counts.chain(recovered).collect();
    format!("reckon {} ({}): {}", content.partner, content.mode, counts.join(", "))
}

/// Returns the text for people.
pub fn alert_text(content: &AlertContent) -> String {
    let mut lines = vec![alert_subject(content)];
    lines.extend(content.items.iter().map(item_line));
    if content.omitted > 0 {
        lines.push(format!("and {} more: {MORE}", content.omitted));
    }
    lines.join("\n")
}

/// Returns the words of a class for people.
fn label(class: AlertClass) -> &'static str {
    match class {
        AlertClass::Held => "on hold",
        AlertClass::InDoubt => "in doubt",
        AlertClass::Service => "without the service",
        AlertClass::Blocked => "blocked",
        AlertClass::OverLimit => "over a limit",
        AlertClass::Drift => "drifted",
    }
}

fn item_line(item: &AlertItem) -> String {
    let line = item.line.map(|line| format!(":{line}")).unwrap_or_default();
    let place = item.file.as_ref().map(|file| format!("{file}{line}"));
    // The name of a merchant itself is the resource.
    let merchant = item.merchant.clone().filter(|merchant| *merchant != item.resource);
    let parts = [Some(item.resource.clone()), merchant, Some(item.class.to_owned()), place];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    format!("{}  {}", parts.join("  "), item.message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content() -> AlertContent {
        AlertContent {
            partner: "acme".to_owned(),
            mode: Mode::Test,
            at: "2030-01-01T10:00:00Z".parse().unwrap(),
            counts: vec![(AlertClass::Held, 1), (AlertClass::OverLimit, 24)],
            recovered: 1,
            items: vec![AlertItem {
                resource: "Invoice/a".to_owned(),
                class: AlertClass::Held.word(),
                before: None,
                merchant: Some("Merchant/acme".to_owned()),
                file: Some("specs/a.yaml".to_owned()),
                line: Some(10),
                reason: "Held",
                message: "on hold: why".to_owned(),
            }],
            omitted: 25,
        }
    }

    #[test]
    fn a_text_begins_with_the_counts_and_ends_with_the_rest() {
        let text = "reckon acme (test): 1 on hold, 24 over a limit, 1 recovered\n\
            Invoice/a  Merchant/acme  held  specs/a.yaml:10  on hold: why\n\
            and 25 more: reckon get --not-ready";
        assert_eq!(alert_text(&content()), text);
        assert!(text.starts_with(&alert_subject(&content())));
    }

    #[test]
    fn a_program_gets_a_map_with_the_name_of_its_form() {
        let data = alert_data(&content());
        let expect = json!({
            "form": "alert.v1", "partner": "acme", "mode": "test", "at": "2030-01-01T10:00:00.000Z",
            "counts": {"held": 1, "over_limit": 24, "recovered": 1},
            "items": [{"resource": "Invoice/a", "class": "held", "merchant": "Merchant/acme",
                "file": "specs/a.yaml", "line": 10, "reason": "Held", "message": "on hold: why"}],
            "omitted": 25,
        });
        assert_eq!(data, expect);
    }
}
