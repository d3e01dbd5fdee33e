//! Renders actions that a person requests, their results, and the results of `suspend`, `resume`,
//! `import` and `forget`; and unknown objects.

use serde_json::Value;

use crate::base::id::Key;
use crate::base::money::Money;
use crate::base::secret::is_number;
use crate::base::wording::count_noun;
use crate::engine::protocol::actions::{ActionReport, ActionStatus};
use crate::engine::protocol::intents::{
    DisownPreview, DisownedView, IntentsView, UnknownObjectView,
};
use crate::model::effect::Action;
use crate::model::holds::FreezeResult;
use crate::model::operator::SuspensionResult;
use crate::model::state::drift::{
    AdoptionReport, ForgetRequest, ForgetResult, ImportOption, InventoryItem,
};
use crate::render::words::{clean, money_amount, money_text, push_line, value_text, wrap};

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
            fact(&mut out, name, &value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        }
    }
    if let Some(key) = &acted.key {
        fact(&mut out, "name", &key.name.to_string());
        push_line!(out, "{}", next_step(acted.status, key).trim_end());
    }
    out
}

/// Renders `12.50 USD`; an occurrence has no currency of its own: its amount is in minor units.
fn amount(acted: &ActionReport) -> Option<String> {
    let minor = acted.facts.get("amount")?.as_i64()?;
    let currency = acted.facts.get("currency").and_then(Value::as_str);
    Some(match currency.and_then(|code| code.parse().ok()) {
        Some(currency) => Money::new(minor, currency).to_string(),
        None => format!("{minor} minor units"),
    })
}

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

pub fn suspension_result(paused: &SuspensionResult) -> String {
    let name = |key: &Key| clean(&key.short());
    match paused {
        SuspensionResult::Suspended(suspension) => format!("{}\n", clean(&suspension.to_string())),
        SuspensionResult::Resumed { key, .. } => format!("{} was resumed\n", name(key)),
        SuspensionResult::NotSuspended { key, .. } => format!("{} was not suspended\n", name(key)),
        SuspensionResult::Unknown { key, .. } => format!("no such resource: {}\n", name(key)),
    }
}

pub fn freeze_result(result: &FreezeResult) -> String {
    match result {
        FreezeResult::Frozen(freeze) => format!("{}\n", clean(&freeze.sentence())),
        FreezeResult::AlreadyFrozen(freeze) => format!("already {}\n", clean(&freeze.sentence())),
        FreezeResult::Thawed(freeze) => {
            format!(
                "thawed: changes go to the service again. It was {}\n",
                clean(&freeze.to_string())
            )
        }
        FreezeResult::NotFrozen => "nothing is frozen\n".to_owned(),
    }
}

const SENTENCE_WIDTH: usize = 80;

/// Renders the differing fields of an adoption, and those that the service does not show.
pub fn adoption_result(adopted: &AdoptionReport) -> String {
    let mut out = format!("{}: {}\n", clean(&adopted.key.short()), clean(&adopted.message));
    if !adopted.changes.is_empty() {
        push_line!(out, "  the next plan changes, from the present value to that of the document:");
    }
    for change in &adopted.changes {
        let side = |side: &Value| {
            if side.is_null() { "(none)".to_owned() } else { clean(&value_text(side)) }
        };
        let (before, after) = (side(&change.before), side(&change.after));
        push_line!(out, "    {}: {before} → {after}", clean(&change.path));
    }
    if !adopted.unverified_fields.is_empty() {
        let fields = clean(&adopted.unverified_fields.join(", "));
        push_line!(out, "  not shown by the service, assumed to match the document: {fields}");
    }
    out
}

/// Renders the objects of a merchant, with the planned decision on each.
pub fn import_candidates(found: &[InventoryItem], folder: &str) -> String {
    let mut out = String::new();
    for InventoryItem { id, import_option: what } in found {
        let told = match what {
            ImportOption::Known(key) => format!("is already known as {}", key.short()),
            ImportOption::Document(key) => format!("is taken over for {}", key.short()),
            ImportOption::New(key, _) => {
                format!("is taken over for {}, a new document in {folder}", key.short())
            }
            ImportOption::Skipped(why) | ImportOption::Impossible(why) => {
                format!("is skipped: {why}")
            }
        };
        push_line!(out, "{} {}", clean(id.as_str()), clean(&told));
    }
    out
}

pub fn forget_request(what: &ForgetRequest) -> String {
    match what {
        ForgetRequest::Resource(key) => format!(
            "{} will no longer be managed; its object stays unchanged at the service",
            clean(&key.short())
        ),
        ForgetRequest::Object(id) => {
            let id = clean(id.as_str());
            format!("the object {id} will be ignored, although it carries your mark")
        }
    }
}

pub fn forget_result(forgot: &ForgetResult) -> String {
    match forgot {
        ForgetResult::Resource(key, Some(id)) => {
            let (name, id) = (clean(&key.short()), clean(id.as_str()));
            format!("{name} is forgotten; {id} stays unchanged at the service\n")
        }
        ForgetResult::Resource(key, None) => format!("{} is forgotten\n", clean(&key.short())),
        ForgetResult::Object(id, key) => {
            let (id, name) = (clean(id.as_str()), clean(&key.short()));
            format!("{id} is ignored from now on; it no longer blocks {name}\n")
        }
        ForgetResult::Unknown(_) => "no such resource or object\n".to_owned(),
        ForgetResult::Refused(why, help) => format!("{}; {}\n", clean(why), clean(help)),
    }
}

/// Renders unknown objects with our marks and the ways out; the dangerous last resort ends it.
pub(super) fn unknown_objects(out: &mut String, view: &IntentsView) {
    push_line!(out, "Unknown objects at the service that carry your mark:");
    for stray in &view.unknown_objects {
        let UnknownObjectView { id, list, mark, key, second, way_out } = stray;
        let what = if *second { "is a second object with the mark of" } else { "blocks" };
        push_line!(out, "");
        push_line!(out, "{} ({}) {what} {}", clean(id), clean(list), clean(&key.short()));
        push_line!(out, "  mark       {}", clean(mark));
        for (number, way) in way_out.iter().enumerate() {
            let label = if number == 0 { "way out" } else { "or" };
            push_line!(out, "  {label:10} {}", clean(way));
        }
    }
    if let Some(unknown) = &view.last_resort {
        push_line!(out, "");
        last_resort(out, unknown);
    }
}

fn last_resort(out: &mut String, unknown: &DisownPreview) {
    let count = count_noun(unknown.objects.len(), "object");
    let text = format!(
        "DANGEROUS: `{}` disowns {count} at once. Their documents are then created again{}. Run \
        it only if none of them is yours.",
        unknown.command,
        risk(unknown)
    );
    for row in wrap(&text, SENTENCE_WIDTH) {
        push_line!(out, "{row}");
    }
}

/// Returns the amounts that may be collected twice if the documents create their objects again.
fn risk(unknown: &DisownPreview) -> String {
    if unknown.active == 0 {
        return String::new();
    }
    let totals: Vec<String> = unknown.totals.iter().map(money_text).collect();
    let charges = count_noun(unknown.active, "active recurring charge");
    format!(", and payers may be charged twice: {charges}, {}", totals.join(", "))
}

/// Renders the objects that `init --empty-remote` would disown, with the sums.
pub fn disown_request(unknown: &DisownPreview) -> String {
    let mut out = String::new();
    if unknown.objects.is_empty() {
        push_line!(
            out,
            "No object with an unknown mark was found so far. From now on, such an object blocks \
            no merchant."
        );
        return out;
    }
    push_line!(
        out,
        "These objects carry your mark but are unknown to this state; they would be disowned:"
    );
    for DisownedView { id, list, merchant, status, money } in &unknown.objects {
        let money = money
            .as_ref()
            .map(|one| format!(", {} per occurrence ({})", money_amount(one), one.mode));
        let status = status.as_ref().map(|status| format!(", {}", clean(status)));
        let more = format!("{}{}", status.unwrap_or_default(), money.unwrap_or_default());
        push_line!(out, "  {} of {} ({}{more})", clean(id), clean(&merchant.short()), clean(list));
    }
    for total in &unknown.totals {
        push_line!(out, "  total: {}", money_text(total));
    }
    push_line!(out, "");
    last_resort(&mut out, unknown);
    out
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
