//! Checks removals: a removed object collects nothing more, and a returned authorisation is never
//! used again.

use serde_json::Value;

use super::laws::{RunEvidence, Violation, is_complete};
use super::uniqueness::mark_of;
use super::unmarked_charges::result_id;
use crate::model::intents::intent::IntentProgress;
use crate::sim::actors::sandbox_control::text;
use crate::sim::machine::journal_decoder::{IntentHistory, name_of};
use crate::sim::world::documents::{Doc, DocBody};

/// Effects by which the document of a recurring charge ends it.
const ENDS: [&str; 3] = ["recurring.cancel", "recurring.end", "occurrence.ignore"];

/// Checks that a recurring charge collects nothing after everything has settled, if its document
/// always declared the removal and is gone. The same holds for a cancelled charge, whatever its
/// document says later.
pub(crate) fn check_no_collection(evidence: &RunEvidence<'_>, found: &mut Vec<Violation>) {
    let before = evidence.objects.ledger.len();
    let news = || evidence.later.ledger.iter().skip(before);
    for (name, doc) in
        evidence.all_documents().into_iter().filter(|(_, doc)| doc.kind() == "RecurringCharge")
    {
        let why = if is_removed(evidence, doc) {
            "has no document"
        } else if was_cancelled(evidence, doc) {
            "was cancelled"
        } else {
            continue;
        };
        for charge in own_charges(evidence, doc) {
            let id = text(charge, "id");
            let collects = |entry: &&Value| {
                text(entry, "type") == "CHARGE" && charge_of_entry(evidence, entry) == Some(id)
            };
            if let Some(entry) = news().find(collects) {
                let amount = entry.get("amount").unwrap_or(&Value::Null);
                let text = format!("{name} {why}, and {id} collected {amount} after that");
                found.push(Violation::new("removal", text));
            }
        }
    }
}

/// Returns true if the recurring charge of a document's first generation was cancelled.
fn was_cancelled(evidence: &RunEvidence<'_>, doc: &Doc) -> bool {
    let source = doc.source_id(0);
    evidence.intents(&doc.name).any(|one| {
        let first = Some(&one.intent.source_id) == source.as_ref();
        first && one.intent.effect == "recurring.cancel" && is_done(one)
    })
}

/// Returns the recurring charges of a document's first generation: by the mark, or by the journal's
/// results if they carry none.
fn own_charges<'a>(evidence: &RunEvidence<'a>, doc: &Doc) -> Vec<&'a Value> {
    let (mark, source) = (doc.mark(0), doc.source_id(0));
    let ids = |id: &str| {
        let mut own = evidence.intents(&doc.name);
        own.any(|one| Some(&one.intent.source_id) == source.as_ref() && result_id(one) == Some(id))
    };
    let is = |one: &&Value| {
        mark.as_ref().is_some_and(|mark| mark_of(one) == mark.as_str()) || ids(text(one, "id"))
    };
    evidence.later.recurring.iter().filter(is).collect()
}

/// Returns the recurring charge to which a movement of money belongs.
fn charge_of_entry<'a>(evidence: &RunEvidence<'a>, entry: &Value) -> Option<&'a str> {
    let occurrence = text(entry, "recurring_charge_occurrence_id");
    let mut all = evidence.later.occurrences.iter();
    all.find(|one| text(one, "id") == occurrence).map(|one| text(one, "recurring_charge_id"))
}

/// Returns true if a document is gone from a complete tree, and every version of it declared the
/// removal of its object.
fn is_removed(evidence: &RunEvidence<'_>, doc: &Doc) -> bool {
    let Some(files) = evidence.files().filter(|files| is_complete(files)) else { return false };
    let versions = evidence.versions(&doc.name);
    let always = versions.iter().all(|doc| doc.declares_removal() && doc.generation == 0);
    always && !files.contains_key(&doc.name) && !evidence.is_on_hold(doc)
}

fn is_done(story: &IntentHistory) -> bool {
    matches!(story.progress.last(), Some((_, IntentProgress::Done { .. })))
}

/// Returns true if the recurring charge of a document was ended, also in part, while it had no
/// document. It then waits for a higher generation.
pub(crate) fn was_ended(evidence: &RunEvidence<'_>, doc: &Doc) -> bool {
    ending_intents(evidence, doc).any(is_done)
}

/// Returns true if the service ended the charge and the answer was lost. The document must then not
/// be reported as ready.
pub(crate) fn may_be_ended(evidence: &RunEvidence<'_>, doc: &Doc) -> bool {
    let happened = |story: &IntentHistory| {
        let effect = Some(story.intent.effect.as_str());
        let name = name_of(&story.intent);
        let mut same = evidence.arrivals.iter().filter(|one| one.name == name);
        same.any(|one| one.effect == effect && (200..300).contains(&one.status))
    };
    ending_intents(evidence, doc).any(happened)
}

/// Returns the intents that ended the recurring charge of this generation of a document.
fn ending_intents<'a>(
    evidence: &'a RunEvidence<'_>,
    doc: &Doc,
) -> impl Iterator<Item = &'a IntentHistory> {
    let source = doc.source_id(doc.generation).filter(|_| doc.kind() == "RecurringCharge");
    let own = evidence.intents(&doc.name);
    own.filter(move |one| {
        Some(&one.intent.source_id) == source.as_ref() && ENDS.contains(&one.intent.effect.as_str())
    })
}

/// Checks that a document that returns after the end of its object reports `Ended` and starts
/// nothing by itself.
pub(crate) fn check_returned(evidence: &RunEvidence<'_>, found: &mut Vec<Violation>) {
    for doc in evidence.files().into_iter().flat_map(|files| files.values()) {
        if !was_ended(evidence, doc) || evidence.is_on_hold(doc) {
            continue;
        }
        let view = evidence.views.iter().find(|one| one.name == doc.name && one.kind == doc.kind());
        if view.is_none_or(|view| view.reason != "Ended") {
            let said = view.map_or("nothing", |view| view.reason.as_str());
            let text = format!(
                "{} returned after its object was ended, and its reason is {said}",
                doc.address()
            );
            found.push(Violation::new("removal", text));
        }
    }
}

/// Checks that a removed merchant's authorisation is given back, and that no later request uses it.
pub(crate) fn check_deauthorised(evidence: &RunEvidence<'_>, found: &mut Vec<Violation>) {
    let ever = evidence.all_documents();
    for (name, doc) in ever.iter().filter(|(_, doc)| doc.body == DocBody::Merchant) {
        let back = |effect: &str| {
            evidence.intents(name).find(|one| one.intent.effect == effect && is_done(one))
        };
        if let Some((at, _)) = back("merchant.deauthorise").and_then(|story| story.progress.last())
        {
            for (_, path) in evidence.unauthorised_calls.iter().filter(|(asked, _)| asked > at) {
                let text = format!("{path} was requested after {name} was deauthorised");
                found.push(Violation::new("removal", text));
            }
            continue;
        }
        let mut others = ever.values().filter(|other| other.merchant() == *name);
        let held = others
            .any(|other| evidence.intents(&other.name).any(|one| one.hold_reason().is_some()));
        if is_removed(evidence, doc) && back("code.exchange").is_some() && !held {
            let text = format!("{name} has no document and is still authorised");
            found.push(Violation::new("removal", text));
        }
    }
}
