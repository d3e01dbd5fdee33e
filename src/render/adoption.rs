//! Renders adopted, forgotten and disowned objects, and unknown objects, for people.

use super::words::{amount, clean, line, money, value, wrapped};
use crate::base::counted::counted;
use crate::engine::{DisownedView, Disowning, IntentsView, StrayView};
use crate::model::adoption::{Adopted, Forgetting, Forgot, Found, What};

/// Columns of a wrapped sentence.
const SENTENCE_WIDTH: usize = 80;

/// Renders the result of an adoption: the fields that differ, and those that the service does not
/// show.
pub fn text(adopted: &Adopted) -> String {
    let mut out = String::new();
    line(&mut out, &format!("{}: {}", clean(&adopted.key.short()), clean(&adopted.message)));
    if !adopted.changes.is_empty() {
        line(&mut out, "  the next plan changes, from what is there to what the document says:");
    }
    for change in &adopted.changes {
        let side = |side: &serde_json::Value| {
            if side.is_null() { "(none)".to_owned() } else { clean(&value(side)) }
        };
        let (before, after) = (side(&change.before), side(&change.after));
        line(&mut out, &format!("    {}: {before} → {after}", clean(&change.path)));
    }
    if !adopted.believed.is_empty() {
        let fields = adopted.believed.join(", ");
        line(
            &mut out,
            &format!(
                "  not shown by the service, believed as the document says: {}",
                clean(&fields)
            ),
        );
    }
    out
}

/// Renders the objects of a merchant, with the planned decision on each.
pub fn found(found: &[Found], folder: &str) -> String {
    let mut out = String::new();
    for Found { id, what } in found {
        let told = match what {
            What::Known(key) => format!("is known as {}", key.short()),
            What::Document(key) => format!("is taken over for {}", key.short()),
            What::New(key, _) => {
                format!("is taken over for {}, a new document in {folder}", key.short())
            }
            What::Skipped(why) | What::Impossible(why) => format!("is left as it is: {why}"),
        };
        line(&mut out, &format!("{} {}", clean(id.as_str()), clean(&told)));
    }
    out
}

/// Renders what would be forgotten.
pub fn forgetting(what: &Forgetting) -> String {
    match what {
        Forgetting::Resource(key) => format!(
            "{} is managed no more; its object stays as it is at the service",
            clean(&key.short())
        ),
        Forgetting::Object(id) => {
            format!(
                "the object {} belongs to no document of yours, whatever its mark says",
                clean(id.as_str())
            )
        }
    }
}

/// Renders the result of forgetting.
pub fn forgot(forgot: &Forgot) -> String {
    match forgot {
        Forgot::Resource(key, Some(id)) => format!(
            "{} is forgotten; {} stays as it is at the service\n",
            clean(&key.short()),
            clean(id.as_str())
        ),
        Forgot::Resource(key, None) => format!("{} is forgotten\n", clean(&key.short())),
        Forgot::Object(id, key) => format!(
            "{} is ignored from now on; it no longer blocks {}\n",
            clean(id.as_str()),
            clean(&key.short())
        ),
        Forgot::Unknown(_) => "nothing is called so\n".to_owned(),
        Forgot::Refused(why, help) => format!("{}; {}\n", clean(why), clean(help)),
    }
}

/// Renders the unknown objects that carry our marks and block resources, with the ways out of each.
/// The dangerous last resort comes once, at the end.
pub(super) fn strays(out: &mut String, view: &IntentsView) {
    line(out, "Objects on the service with marks of ours that are not known:");
    for stray in &view.strays {
        let StrayView { id, list, mark, key, second, way_out } = stray;
        let what = if *second { "a second one with the mark of" } else { "stands in the way of" };
        line(out, "");
        line(out, &format!("{} ({}) {what} {}", clean(id), clean(list), clean(&key.short())));
        line(out, &format!("  mark       {}", clean(mark)));
        for (number, way) in way_out.iter().enumerate() {
            let label = if number == 0 { "way out" } else { "or" };
            line(out, &format!("  {label:10} {}", clean(way)));
        }
    }
    if let Some(unknown) = &view.last_resort {
        line(out, "");
        last_resort(out, unknown);
    }
}

/// Renders the dangerous last resort, with its risk.
fn last_resort(out: &mut String, unknown: &Disowning) {
    let count = counted(unknown.objects.len(), "object");
    let text = format!(
        "DANGEROUS: `{}` disowns {count} at once. Their documents are then made again{}. Use it only if \
         none of them is yours.",
        unknown.command,
        risk(unknown)
    );
    for row in wrapped(&text, SENTENCE_WIDTH) {
        line(out, &row);
    }
}

/// Returns the amounts that may be collected twice if the documents create their objects again.
fn risk(unknown: &Disowning) -> String {
    if unknown.active == 0 {
        return String::new();
    }
    let totals: Vec<String> = unknown.totals.iter().map(money).collect();
    let charges = counted(unknown.active, "active recurring charge");
    format!(", and payers may be charged twice: {charges}, {}", totals.join(", "))
}

/// Renders the objects that `init --empty-remote` would disown, with the sums.
pub fn disowning(unknown: &Disowning) -> String {
    let mut out = String::new();
    if unknown.objects.is_empty() {
        line(
            &mut out,
            "No object with an unknown mark was found so far. From now on none stops a merchant.",
        );
        return out;
    }
    line(
        &mut out,
        "These objects carry marks of ours that this state does not know; they would be disowned:",
    );
    for DisownedView { id, list, merchant, status, money } in &unknown.objects {
        let money =
            money.as_ref().map(|one| format!(", {} per occurrence ({})", amount(one), one.mode));
        let status = status.as_ref().map(|status| format!(", {}", clean(status)));
        let more = format!("{}{}", status.unwrap_or_default(), money.unwrap_or_default());
        line(
            &mut out,
            &format!("  {} of {} ({}{more})", clean(id), clean(&merchant.short()), clean(list)),
        );
    }
    for total in &unknown.totals {
        line(&mut out, &format!("  total: {}", money(total)));
    }
    line(&mut out, "");
    last_resort(&mut out, unknown);
    out
}
