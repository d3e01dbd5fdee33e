//! Checks sums and collections: invoices and occurrences have the amounts of their documents, a
//! removed object collects nothing more, and a returned authorisation is never used again.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::sim::check::evidence::{
    RunEvidence, Violation, Violations, is_complete, is_valid, result_id,
};
use crate::sim::check::{commands, evidence, limits, uniqueness};
use crate::sim::machine::journal::{IntentHistory, name_of};
use crate::sim::plan::documents::{Doc, DocBody};
use crate::sim::plan::parts::add;
use crate::sim::service::control::{find, mark_of, text};
use crate::sim::service::frontend::Arrival;

/// Compares the sums of all invoices and of all settled documents. Documents that changed after
/// their invoice was sent are excluded, and are checked one by one elsewhere.
pub(crate) fn check_invoiced(evidence: &RunEvidence<'_>, found: &mut Violations) {
    let Some(files) = evidence.files() else { return };
    let (mut asked, mut billed) = (0_i64, 0_i64);
    for doc in files.values().filter(|doc| matches!(doc.body, DocBody::Invoice { .. })) {
        let same =
            |other: &&Doc| other.amount() == doc.amount() && other.generation == doc.generation;
        let constant = evidence.versions(&doc.name).iter().all(same);
        let waits = evidence.is_on_hold(doc) || limits::is_over_limit(evidence, doc);
        if !constant || !is_valid(files, doc) || waits {
            continue;
        }
        let source = doc.source_id(doc.generation).map(|source| source.to_string());
        let invoices = evidence.objects.invoices.iter();
        let own = invoices.filter(|one| Some(text(one, "source_id")) == source.as_deref());
        let totals = own.filter_map(|one| one.get("total_amount").and_then(Value::as_i64));
        billed = totals.fold(billed, i64::saturating_add);
        asked = asked.saturating_add(doc.amount().unwrap_or(0));
    }
    if asked != billed {
        let text = format!("the documents request {asked} in all, and the invoices have {billed}");
        found.push(Violation::new("sums", text));
    }
}

/// Checks that every occurrence collects the amount of its document once.
pub(crate) fn check_collected(evidence: &RunEvidence<'_>, found: &mut Violations) {
    let later = evidence.later;
    let names = evidence::marks(evidence, "RecurringCharge");
    let mut times: BTreeMap<&str, u32> = BTreeMap::new();
    let charges = later.ledger.iter().filter(|entry| text(entry, "type") == "CHARGE");
    for entry in charges.filter(|entry| !commands::is_requested_charge(evidence, entry)) {
        let occurrence = text(entry, "recurring_charge_occurrence_id");
        let charge = recurring_charge_of(evidence, occurrence);
        let doc = charge.and_then(|charge| names.get(&mark_of(charge)));
        let ours =
            doc.is_some() || charge.is_some_and(|one| uniqueness::is_unmarked(evidence, one));
        let asked = charge.and_then(|charge| charge.get("amount"));
        let collected = entry.get("amount");
        let fits = asked == collected
            || doc.is_some_and(|(name, _)| is_first_payment(evidence, name, entry));
        if !ours || !fits {
            let text = format!(
                "no document requested a charge of {collected:?} by occurrence {occurrence:?}"
            );
            found.push(Violation::new("sums", text));
        }
        add(&mut times, occurrence, 1);
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
    let made = evidence
        .arrivals_of("charge.recur")
        .any(|one| text(&one.reply, "recurring_charge_occurrence_id") == own);
    let by_command = |pay: &Arrival| pay.name.1.split('/').any(|part| part == own);
    let amount = entry.get("amount").and_then(Value::as_i64);
    (made || evidence.arrivals_of("occurrence.pay").any(by_command))
        && evidence.versions(name).iter().any(|doc| doc.amount() == amount)
}

fn recurring_charge_of<'a>(evidence: &RunEvidence<'a>, occurrence: &str) -> Option<&'a Value> {
    let occurrence = find(&evidence.later.occurrences, "id", occurrence)?;
    find(&evidence.later.recurring, "id", text(occurrence, "recurring_charge_id"))
}

/// Effects by which the document of a recurring charge ends it.
const ENDS: [&str; 3] = ["recurring.cancel", "recurring.end", "occurrence.ignore"];

/// Checks that a recurring charge collects nothing after everything has settled, if its document
/// always declared the removal and is gone. The same holds for a cancelled charge, whatever its
/// document says later.
pub(crate) fn check_no_collection(evidence: &RunEvidence<'_>, found: &mut Violations) {
    let before = evidence.objects.ledger.len();
    let news = || evidence.later.ledger.iter().skip(before);
    let ever = evidence.all_documents().into_iter();
    for (name, doc) in ever.filter(|(_, doc)| doc.kind() == "RecurringCharge") {
        let is_cancel =
            |one: &IntentHistory| one.intent.effect == "recurring.cancel" && one.is_done();
        let why = if is_removed(evidence, doc) {
            "has no document"
        } else if evidence.intents_of(doc, 0).any(is_cancel) {
            "was cancelled"
        } else {
            continue;
        };
        for charge in own_charges(evidence, doc) {
            let id = text(charge, "id");
            let collects = |entry: &&Value| {
                let occurrence = text(entry, "recurring_charge_occurrence_id");
                let of = recurring_charge_of(evidence, occurrence);
                text(entry, "type") == "CHARGE" && of.is_some_and(|charge| text(charge, "id") == id)
            };
            if let Some(entry) = news().find(collects) {
                let amount = entry.get("amount").unwrap_or(&Value::Null);
                let text = format!("{name} {why}, and {id} collected {amount} after that");
                found.push(Violation::new("removal", text));
            }
        }
    }
}

/// Returns the recurring charges of a document's first generation: by the mark, or by the journal's
/// results if they carry none.
fn own_charges<'a>(evidence: &RunEvidence<'a>, doc: &Doc) -> Vec<&'a Value> {
    let mark = doc.mark(0);
    let is_result = |id: &str| evidence.intents_of(doc, 0).any(|one| result_id(one) == Some(id));
    let is = |one: &&Value| {
        let marked = mark.as_ref().is_some_and(|mark| mark_of(one) == mark.as_str());
        marked || is_result(text(one, "id"))
    };
    evidence.later.recurring.iter().filter(is).collect()
}

/// Returns true if a document is gone from a complete tree, and every version of it declared the
/// removal of its object.
pub(crate) fn is_removed(evidence: &RunEvidence<'_>, doc: &Doc) -> bool {
    let Some(files) = evidence.files().filter(|files| is_complete(files)) else { return false };
    let versions = evidence.versions(&doc.name);
    let always = versions.iter().all(|doc| doc.declares_removal() && doc.generation == 0);
    always && !files.contains_key(&doc.name) && !evidence.is_on_hold(doc)
}

/// Returns true if the recurring charge of a document was ended, also in part, while it had no
/// document. It then waits for a higher generation.
pub(crate) fn was_ended(evidence: &RunEvidence<'_>, doc: &Doc) -> bool {
    ending_intents(evidence, doc).any(IntentHistory::is_done)
}

/// Returns true if the service ended the charge and the answer was lost. The document must then not
/// be reported as ready.
pub(crate) fn may_be_ended(evidence: &RunEvidence<'_>, doc: &Doc) -> bool {
    let happened = |story: &IntentHistory| {
        let name = name_of(&story.intent);
        let mut same = evidence.arrivals_of(&story.intent.effect).filter(|one| one.name == name);
        same.any(Arrival::succeeded)
    };
    ending_intents(evidence, doc).any(happened)
}

/// Returns the intents that ended the recurring charge of this generation of a document.
fn ending_intents<'a>(
    evidence: &'a RunEvidence<'_>,
    doc: &Doc,
) -> impl Iterator<Item = &'a IntentHistory> {
    let recurs = doc.kind() == "RecurringCharge";
    let own = evidence.intents_of(doc, doc.generation);
    own.filter(move |one| recurs && ENDS.contains(&one.intent.effect.as_str()))
}

/// Checks that a document that returns after the end of its object reports `Ended` and starts
/// nothing by itself.
pub(crate) fn check_returned(evidence: &RunEvidence<'_>, found: &mut Violations) {
    for doc in evidence.files().into_iter().flat_map(|files| files.values()) {
        if !was_ended(evidence, doc) || evidence.is_on_hold(doc) {
            continue;
        }
        let view = evidence.view(doc);
        if view.is_none_or(|view| view.reason != "Ended") {
            let said = view.map_or("nothing", |view| view.reason.as_str());
            let doc = doc.address();
            let text =
                format!("{doc} returned after its object was ended, and its reason is {said}");
            found.push(Violation::new("removal", text));
        }
    }
}

/// Checks that a removed merchant's authorisation is given back, and that no later request uses it.
pub(crate) fn check_deauthorised(evidence: &RunEvidence<'_>, found: &mut Violations) {
    let ever = evidence.all_documents();
    for (name, doc) in ever.iter().filter(|(_, doc)| doc.body == DocBody::Merchant) {
        let back = |effect: &str| {
            evidence.intents(name).find(|one| one.intent.effect == effect && one.is_done())
        };
        if let Some((at, _)) = back("merchant.deauthorise").and_then(|story| story.progress.last())
        {
            for (_, path) in evidence.unauthorised_calls.iter().filter(|(asked, _)| asked > at) {
                let text = format!("{path} was requested after {name} was deauthorised");
                found.push(Violation::new("removal", text));
            }
            continue;
        }
        let others = ever.values().filter(|other| other.merchant() == *name);
        let mut intents = others.flat_map(|other| evidence.intents(&other.name));
        let held = intents.any(|one| one.hold_reason().is_some());
        if is_removed(evidence, doc) && back("code.exchange").is_some() && !held {
            let text = format!("{name} has no document and is still authorised");
            found.push(Violation::new("removal", text));
        }
    }
}
