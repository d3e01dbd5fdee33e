//! Checks sums: requested and collected amounts equal those of the documents, to the cent.

use std::collections::BTreeMap;

use serde_json::Value;

use super::laws::{RunEvidence, Violation, is_valid};
use super::uniqueness::mark_of;
use super::{commands, expected_names, limits, unmarked_charges};
use crate::sim::actors::sandbox_control::text;
use crate::sim::world::documents::DocBody;

/// Compares the sums of all invoices and of all settled documents. Documents that changed after
/// their invoice was sent are excluded, and are checked one by one elsewhere.
pub(crate) fn check_invoiced(evidence: &RunEvidence<'_>, found: &mut Vec<Violation>) {
    let Some(files) = evidence.files() else {
        return;
    };
    let (mut asked, mut billed) = (0_i64, 0_i64);
    for doc in files.values().filter(|doc| matches!(doc.body, DocBody::Invoice { .. })) {
        let same = |other: &&crate::sim::world::documents::Doc| {
            other.amount() == doc.amount() && other.generation == doc.generation
        };
        let constant = evidence.versions(&doc.name).iter().all(same);
        let waits = evidence.is_on_hold(doc) || limits::is_over_limit(evidence, doc);
        if !constant || !is_valid(files, doc) || waits {
            continue;
        }
        let source = doc.source_id(doc.generation).map(|source| source.to_string());
        let invoices = evidence.objects.invoices.iter();
        let own = invoices.filter(|one| Some(text(one, "source_id")) == source.as_deref());
        for invoice in own {
            let total = invoice.get("total_amount").and_then(Value::as_i64).unwrap_or(0);
            billed = billed.saturating_add(total);
        }
        asked = asked.saturating_add(doc.amount().unwrap_or(0));
    }
    if asked != billed {
        let text = format!("the documents request {asked} in all, and the invoices have {billed}");
        found.push(Violation::new("sums", text));
    }
}

/// Checks that every occurrence collects the amount of its document once.
pub(crate) fn check_collected(evidence: &RunEvidence<'_>, found: &mut Vec<Violation>) {
    let later = evidence.later;
    let names = expected_names::marks(evidence, "RecurringCharge");
    let mut times: BTreeMap<&str, u32> = BTreeMap::new();
    let charges = later.ledger.iter().filter(|entry| text(entry, "type") == "CHARGE");
    for entry in charges.filter(|entry| !commands::is_requested_charge(evidence, entry)) {
        let occurrence = text(entry, "recurring_charge_occurrence_id");
        let charge = recurring_charge_of(evidence, occurrence);
        let doc = charge.and_then(|charge| names.get(&mark_of(charge)));
        let ours =
            doc.is_some() || charge.is_some_and(|one| unmarked_charges::is_unmarked(evidence, one));
        let asked = charge.and_then(|charge| charge.get("amount"));
        let collected = entry.get("amount");
        let fits = asked == collected
            || doc.is_some_and(|(name, _)| is_first_payment(evidence, name, entry));
        if !ours || !fits {
            let text = format!(
                "no document requested a charge of {:?} by occurrence {occurrence:?}",
                entry.get("amount")
            );
            found.push(Violation::new("sums", text));
        }
        let seen = times.entry(occurrence).or_default();
        *seen = seen.saturating_add(1);
    }
    for (occurrence, times) in times.into_iter().filter(|(_, times)| *times > 1) {
        let text = format!("occurrence {occurrence} collected {times} times");
        found.push(Violation::new("law 5", text));
    }
}

/// Returns true if this payment was made together with its recurring charge, or by a command, of an
/// amount in one version of the document. A later change applies to later payments.
fn is_first_payment(evidence: &RunEvidence<'_>, name: &str, entry: &Value) -> bool {
    let own = text(entry, "recurring_charge_occurrence_id");
    let made = evidence.arrivals.iter().filter(|one| one.effect == Some("charge.recur"));
    let mut made = made.map(|one| text(&one.reply, "recurring_charge_occurrence_id"));
    let amount = entry.get("amount").and_then(Value::as_i64);
    (made.any(|occurrence| occurrence == own) || commands::was_paid_by_command(evidence, own))
        && evidence.versions(name).iter().any(|doc| doc.amount() == amount)
}

/// Returns the recurring charge of an occurrence.
fn recurring_charge_of<'a>(evidence: &RunEvidence<'a>, occurrence: &str) -> Option<&'a Value> {
    let later = evidence.later;
    let occurrence = later.occurrences.iter().find(|one| text(one, "id") == occurrence)?;
    let id = text(occurrence, "recurring_charge_id");
    later.recurring.iter().find(|one| text(one, "id") == id)
}
