//! Renders an action for the person who requests it, its result, and the result of `suspend` or
//! `resume`.

use serde_json::Value;

use crate::base::id::Key;
use crate::base::money::Money;
use crate::base::secret::is_number;
use crate::engine::protocol::actions::{ActionReport, ActionStatus};
use crate::model::effect::Action;
use crate::model::operator::SuspensionResult;
use crate::render::words::{clean, push_line};

/// Columns of the label before a fact.
const LABEL_WIDTH: usize = 18;
/// Facts of an object that are shown, in this order, if known.
const SHOWN_FACTS: [&str; 8] = [
    "status",
    "charge_id",
    "account_id",
    "failure_code",
    "signature_id",
    "transaction",
    "processing_state",
    "last4",
];

pub fn action_request(action: &Action) -> String {
    let mut out = format!("{} at {}\n", clean(&action.verb), clean(&action.merchant.short()));
    for (name, value) in action.fields.as_object().into_iter().flatten() {
        match value.as_object().filter(|_| name == "set") {
            _ if is_absent(value) => {}
            Some(set) => {
                set.iter()
                    .for_each(|(name, value)| fact(&mut out, name, &render_value(name, value)));
            }
            None => fact(&mut out, name, &render_value(name, value)),
        }
    }
    out
}

fn is_absent(value: &Value) -> bool {
    matches!(value, Value::Null | Value::Bool(false)) || value.as_array().is_some_and(Vec::is_empty)
}

/// Renders a field's value, but never the strokes of a signature, a token or the content of a file.
fn render_value(name: &str, value: &Value) -> String {
    match (name, value.as_str()) {
        ("data", _) => "(a signature)".to_owned(),
        ("token", _) => "(a one-time token)".to_owned(),
        ("content", _) => "(a file)".to_owned(),
        (_, Some("")) => "(empty)".to_owned(),
        ("method", Some(text)) if is_number(text) => "(a number)".to_owned(),
        (_, Some(text)) => text.to_owned(),
        (_, None) => serde_json::from_value::<Money>(value.clone())
            .map_or_else(|_| value.to_string(), |money| money.to_string()),
    }
}

/// Renders the result, and the next step for the person.
pub fn action_result(acted: &ActionReport) -> String {
    let mut out = format!("{}: {}\n", clean(&acted.verb), clean(&acted.message));
    if let Some(id) = &acted.remote_id {
        fact(&mut out, "id", id);
    }
    if let Some(amount) = amount(acted) {
        fact(&mut out, "amount", &amount);
    }
    for name in SHOWN_FACTS {
        if let Some(value) = acted.facts.get(name) {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            fact(&mut out, name, &text);
        }
    }
    if let Some(key) = &acted.key {
        fact(&mut out, "name", &key.name.to_string());
        push_line!(out, "{}", next_step(acted.status, key).trim_end());
    }
    out
}

/// Renders `12.50 USD`, if an amount is known. An occurrence has no currency of its own, so its
/// amount is in minor units.
fn amount(acted: &ActionReport) -> Option<String> {
    let minor = acted.facts.get("amount")?.as_i64()?;
    let currency = acted.facts.get("currency").and_then(Value::as_str);
    Some(match currency.and_then(|code| code.parse().ok()) {
        Some(currency) => Money::new(minor, currency).to_string(),
        None => format!("{minor} minor units"),
    })
}

/// Returns the next step for the person; empty if there is none.
fn next_step(stands: ActionStatus, key: &Key) -> String {
    let told = match stands {
        ActionStatus::Done | ActionStatus::Invalid => return String::new(),
        ActionStatus::Refused => {
            "nothing was done; repeat the command only if something has changed"
        }
        ActionStatus::OnHold => "needs attention: settle it as `reckon intents` shows",
        ActionStatus::InDoubt => "its answer was lost; check its status with `reckon intents`",
        ActionStatus::NotSent => "nothing was sent, and nothing will be; repeat the command",
        ActionStatus::Blocked => "nothing was sent; repeat the command once that is corrected",
    };
    format!("{told} ({})", clean(&key.short()))
}

fn fact(out: &mut String, label: &str, text: &str) {
    let gap = if label.len() < LABEL_WIDTH { "" } else { " " };
    push_line!(out, "  {label:LABEL_WIDTH$}{gap}{}", clean(text));
}

/// Renders the result in one sentence.
pub fn suspension_result(paused: &SuspensionResult) -> String {
    match paused {
        SuspensionResult::Suspended(suspension) => format!("{}\n", clean(&suspension.to_string())),
        SuspensionResult::Resumed { key, still: _ } => {
            format!("{} was resumed\n", clean(&key.short()))
        }
        SuspensionResult::NotSuspended { key, still: _ } => {
            format!("{} was not suspended\n", clean(&key.short()))
        }
        SuspensionResult::Unknown { key, nearest: _ } => {
            format!("no such resource: {}\n", clean(&key.short()))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn neither_a_token_nor_a_file_shows() {
        let asked = Action {
            verb: "save".to_owned(),
            merchant: "Merchant/acme".parse().unwrap(),
            name: None,
            fields: json!({"type": "card", "token": "canary-1", "content": "canary-2"}),
        };
        let shown = action_request(&asked);
        assert!(shown.contains("(a one-time token)") && shown.contains("(a file)"), "{shown}");
        assert!(!shown.contains("canary"), "{shown}");
    }

    #[test]
    fn what_would_be_set_is_shown_name_by_name() {
        let set = json!({"name": "Till", "primary": false, "transaction_allowed_countries": ""});
        let asked = Action {
            verb: "account".to_owned(),
            merchant: "Merchant/acme".parse().unwrap(),
            name: None,
            fields: json!({"account": "a1", "type": "card", "set": set}),
        };
        let lines: Vec<String> = action_request(&asked).lines().map(str::to_owned).collect();
        assert_eq!(
            lines,
            [
                "account at Merchant/acme",
                "  account           a1",
                "  type              card",
                "  name              Till",
                "  primary           false",
                "  transaction_allowed_countries (empty)",
            ]
        );
    }
}
