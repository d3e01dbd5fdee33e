//! Renders adopted, forgotten and disowned objects, and unknown objects, for people.

use crate::base::wording::count_noun;
use crate::engine::protocol::intents::{
    DisownPreview, DisownedView, IntentsView, UnknownObjectView,
};
use crate::model::state::drift::{
    AdoptionReport, ForgetRequest, ForgetResult, ImportOption, InventoryItem,
};
use crate::render::words::{clean, money_amount, money_text, push_line, value_text, wrap};

/// Columns of a wrapped sentence.
const SENTENCE_WIDTH: usize = 80;

/// Renders the result of an adoption: the fields that differ, and those that the service does not
/// show.
pub fn adoption_result(adopted: &AdoptionReport) -> String {
    let mut out = String::new();
    push_line!(out, "{}: {}", clean(&adopted.key.short()), clean(&adopted.message));
    if !adopted.changes.is_empty() {
        push_line!(out, "  the next plan changes, from the present value to that of the document:");
    }
    for change in &adopted.changes {
        let side = |side: &serde_json::Value| {
            if side.is_null() { "(none)".to_owned() } else { clean(&value_text(side)) }
        };
        let (before, after) = (side(&change.before), side(&change.after));
        push_line!(out, "    {}: {before} → {after}", clean(&change.path));
    }
    if !adopted.unverified_fields.is_empty() {
        let fields = adopted.unverified_fields.join(", ");
        push_line!(
            out,
            "  not shown by the service, assumed to match the document: {}",
            clean(&fields)
        );
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

/// Renders what would be forgotten.
pub fn forget_request(what: &ForgetRequest) -> String {
    match what {
        ForgetRequest::Resource(key) => format!(
            "{} will no longer be managed; its object stays unchanged at the service",
            clean(&key.short())
        ),
        ForgetRequest::Object(id) => {
            format!(
                "the object {} will be ignored, although it carries your mark",
                clean(id.as_str())
            )
        }
    }
}

pub fn forget_result(forgot: &ForgetResult) -> String {
    match forgot {
        ForgetResult::Resource(key, Some(id)) => format!(
            "{} is forgotten; {} stays unchanged at the service\n",
            clean(&key.short()),
            clean(id.as_str())
        ),
        ForgetResult::Resource(key, None) => format!("{} is forgotten\n", clean(&key.short())),
        ForgetResult::Object(id, key) => format!(
            "{} is ignored from now on; it no longer blocks {}\n",
            clean(id.as_str()),
            clean(&key.short())
        ),
        ForgetResult::Unknown(_) => "no such resource or object\n".to_owned(),
        ForgetResult::Refused(why, help) => format!("{}; {}\n", clean(why), clean(help)),
    }
}

/// Renders the unknown objects that carry our marks and block resources, with the ways out of each.
/// The dangerous last resort comes once, at the end.
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

/// Renders the dangerous last resort, with its risk.
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
