//! Checks recurring charges from an earlier charge. They carry no mark at the service, so they are
//! counted.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::laws::{RunEvidence, Violation};
use super::uniqueness::mark_of;
use crate::model::intents::intent::IntentProgress;
use crate::sim::actors::sandbox_control::text;
use crate::sim::machine::journal_decoder::IntentHistory;
use crate::sim::world::documents::{Doc, DocBody};
use crate::sim::world::unmarked_charges::EFFECT;

/// Returns the recurring charges made from an earlier charge, with the path of each.
fn made_charges<'a>(evidence: &RunEvidence<'a>) -> Vec<(&'a str, &'a str)> {
    let all = evidence.arrivals.iter();
    let done = all.filter(|one| one.effect == Some(EFFECT) && one.status == 200);
    done.map(|one| (text(&one.reply, "id"), one.name.1.as_str())).collect()
}

/// Returns true if a recurring charge is ours although it carries no mark.
pub(crate) fn is_unmarked(evidence: &RunEvidence<'_>, charge: &Value) -> bool {
    mark_of(charge).is_empty()
        && made_charges(evidence).iter().any(|(id, _)| *id == text(charge, "id"))
}

/// Returns the id that the journal records as the result of a finished intent.
pub(crate) fn result_id(story: &IntentHistory) -> Option<&str> {
    match story.progress.last() {
        Some((_, IntentProgress::Done { observation, proof: _ })) => {
            observation.remote_id.as_ref().map(crate::base::id::RemoteId::as_str)
        }
        Some(_) | None => None,
    }
}

fn schedule_intents<'a>(evidence: &RunEvidence<'a>) -> impl Iterator<Item = &'a IntentHistory> {
    evidence.histories.iter().filter(|story| story.intent.effect == EFFECT)
}

/// Checks that no recurring charge is the result of two documents, and that each charge from an
/// earlier one has an effect of its own.
pub(crate) fn check_counts(evidence: &RunEvidence<'_>, found: &mut Vec<Violation>) {
    let mut owners: BTreeMap<&str, &str> = BTreeMap::new();
    let mut wanted: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for story in schedule_intents(evidence) {
        let source = story.intent.source_id.as_str();
        wanted.entry(&story.intent.request.path).or_default().insert(source);
        let before = result_id(story).and_then(|id| owners.insert(id, source));
        if let Some(other) = before {
            let text =
                format!("{other} and {source} have the same recurring charge as their result");
            found.push(Violation::new("law 5", text));
        }
    }
    let mut there: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, path) in made_charges(evidence) {
        let seen = there.entry(path).or_default();
        *seen = seen.saturating_add(1);
    }
    for (path, count) in there {
        let most = wanted.get(path).map_or(0, BTreeSet::len);
        if count > most {
            let text = format!("{path} made {count} recurring charges for {most} documents");
            found.push(Violation::new("law 5", text));
        }
    }
}

/// Returns true if a document waits for another of its merchant that a person must resolve. The two
/// cannot be distinguished at the service.
pub(crate) fn waits_behind(evidence: &RunEvidence<'_>, doc: &Doc) -> bool {
    let same = |story: &IntentHistory| story.intent.merchant.name.as_str() == doc.merchant();
    matches!(doc.body, DocBody::FromCharge(_))
        && schedule_intents(evidence).any(|story| same(story) && story.hold_reason().is_some())
}

/// Returns the first thing of a document that is missing at the service.
pub(crate) fn missing_part(evidence: &RunEvidence<'_>, doc: &Doc) -> Option<String> {
    let DocBody::FromCharge(one) = &doc.body else { return None };
    let source = doc.source_id(doc.generation)?;
    let own = schedule_intents(evidence).filter(|story| story.intent.source_id == source);
    let Some(id) = own.filter_map(result_id).last() else {
        return Some("it has no recurring charge".to_owned());
    };
    let mut charges = evidence.objects.recurring.iter();
    let Some(charge) = charges.find(|charge| text(charge, "id") == id) else {
        return Some(format!("the recurring charge {id} does not exist"));
    };
    let path = format!("/v1/charges/{}/schedule", one.charge);
    if !made_charges(evidence).contains(&(id, path.as_str())) {
        return Some(format!("{id} was not made from its charge {}", one.charge));
    }
    let said = doc.mark(doc.generation).zip(doc.text()).map(|(mark, said)| mark.tag(&said));
    let found = |field: &str| charge.get(field).cloned().unwrap_or_default();
    let differs = [("amount", Value::from(one.amount)), ("description", Value::from(said))];
    let other = differs.into_iter().find(|(field, wanted)| found(field) != *wanted);
    other.map(|(field, wanted)| {
        format!("its {field} is {}, and the document has {wanted}", found(field))
    })
}
