//! Checks laws 1, 2 and 4: every call had an intent, every deletion was intended, and every
//! differing answer puts its resource on hold.

use chrono::{DateTime, Utc};

use super::laws::{RunEvidence, Violation, is_complete};
use crate::model::intents::intent::IntentProgress;
use crate::model::operator::action::is_action;
use crate::sim::actors::sandbox_control::text;
use crate::sim::faults::call_fault::{AMOUNTS, CallFault};
use crate::sim::faults::frontend::Arrival;
use crate::sim::machine::journal_decoder::name_of;
use crate::sim::world::documents::DocTree;
use crate::sim::world::removal;

/// Checks law 1: a durable record allowed every changing request when it arrived.
pub(crate) fn check_call_intents(evidence: &RunEvidence<'_>, found: &mut Vec<Violation>) {
    for arrival in evidence.arrivals.iter().filter(|one| one.effect.is_none() || !one.explained) {
        let (method, path, name) = &arrival.name;
        let text =
            format!("{method} {path} {name} arrived at {} without a durable intent", arrival.at);
        found.push(Violation::new("law 1", text));
    }
}

/// Checks law 2. A deletion or an end needs a document that declared it and is gone, in a complete
/// tree.
pub(crate) fn check_deletions(evidence: &RunEvidence<'_>, found: &mut Vec<Violation>) {
    let ends = |effect: &str| removal::REMOVAL_EFFECTS.contains(&effect);
    let asked = evidence.histories.iter().filter(|story| !is_action(&story.intent.key));
    for story in asked.filter(|story| {
        story.intent.request.method.as_str() == "DELETE" || ends(&story.intent.effect)
    }) {
        let name = story.document();
        let then = trees_at(evidence, story.intent.at);
        let said = evidence.versions(name).iter().any(|doc| doc.declares_removal());
        let why = if !said {
            "its document never declared `deletion: delete`"
        } else if then.iter().all(|tree| tree.contains_key(name)) {
            "its document existed"
        } else if !then.iter().any(|tree| !tree.contains_key(name) && is_complete(tree)) {
            "some document was invalid, so pruning was not allowed"
        } else {
            continue;
        };
        let text = format!("an intent deletes {} at {}: {why}", story.intent.key, story.intent.at);
        found.push(Violation::new("law 2", text));
    }
    check_deletion_targets(evidence, found);
}

/// Checks that a deletion reaches only objects that we made.
fn check_deletion_targets(evidence: &RunEvidence<'_>, found: &mut Vec<Violation>) {
    let is = |arrival: &Arrival, effects: [&str; 2]| {
        arrival.effect.is_some_and(|effect| effects.contains(&effect))
    };
    let deletions = evidence.arrivals.iter().filter(|one| is(one, ["card.delete", "bank.delete"]));
    for arrival in deletions {
        let id = arrival.name.1.rsplit('/').next().unwrap_or_default();
        let made = evidence
            .arrivals
            .iter()
            .any(|one| is(one, ["card.save", "bank.save"]) && text(&one.reply, "id") == id);
        if !made {
            found.push(Violation::new("law 2", format!("{id} was deleted and is not ours")));
        }
    }
}

/// Returns the files at a moment; two trees if they changed in that very moment.
fn trees_at<'a>(evidence: &RunEvidence<'a>, at: DateTime<Utc>) -> Vec<&'a DocTree> {
    let next = evidence.history.iter().skip(1).map(|(from, _)| *from);
    let ends = next.chain([DateTime::<Utc>::MAX_UTC]);
    let spans = evidence.history.iter().zip(ends);
    spans.filter(|((from, _), to)| *from <= at && at <= *to).map(|((_, tree), _)| tree).collect()
}

/// Checks law 4: an answer that differs from the request puts its resource on hold.
pub(crate) fn check_differing_answers(evidence: &RunEvidence<'_>, found: &mut Vec<Violation>) {
    for (place, arrival) in evidence.arrivals.iter().enumerate() {
        if arrival.fault != Some(CallFault::OtherAmount)
            || arrival.status != 200
            || !names_amount(arrival)
        {
            continue;
        }
        let later = evidence.arrivals.iter().skip(place.saturating_add(1));
        if later.into_iter().any(|other| other.name == arrival.name) {
            continue;
        }
        let mut stories = evidence.histories.iter().rev();
        let story = stories
            .find(|story| name_of(&story.intent) == arrival.name && story.intent.at <= arrival.at);
        let Some(story) = story else { continue };
        let done = story
            .progress
            .iter()
            .find(|(at, progress)| *at >= arrival.at && is_settled_or_on_hold(progress))
            // If the intent was on hold first, a person resolved it.
            .filter(|(_, progress)| matches!(progress, IntentProgress::Done { .. }));
        let Some((done, _)) = done else { continue };
        if evidence.deaths.iter().any(|death| (arrival.at..=*done).contains(death)) {
            continue;
        }
        let text = format!(
            "the service answered {} with another amount, and the intent is settled",
            story.intent.key
        );
        found.push(Violation::new("law 4", text));
    }
}

/// Returns true if an intent is settled, or on hold until a person resolves it.
fn is_settled_or_on_hold(progress: &IntentProgress) -> bool {
    matches!(progress, IntentProgress::Done { .. } | IntentProgress::OnHold { .. })
}

/// Returns true if a request names an amount itself.
fn names_amount(arrival: &Arrival) -> bool {
    let field = AMOUNTS.iter().find(|(effect, _)| Some(*effect) == arrival.effect);
    match field {
        Some(("recurring.change", field)) => arrival.body.get(field).is_some(),
        Some(_) => true,
        None => false,
    }
}
