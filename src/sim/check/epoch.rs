//! Checks the resources that may wait for a person because a state was lost.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use super::evidence::{LostState, RunEvidence, Violation};
use crate::base::hash::Mark;
use crate::engine::protocol::queries::views::ResourceView;
use crate::model::intents::intent::IntentProgress;
use crate::sim::machine::journal_decoder::{IntentHistory, name_of};
use crate::sim::plan::documents::Doc;
use crate::sim::service::control::{mark_of, text};

/// Returns every intent ever, with the number of its state. A restored state continues the old
/// number, and an empty one has a new number.
fn all_intents<'a>(evidence: &RunEvidence<'a>) -> impl Iterator<Item = (u32, &'a IntentHistory)> {
    let ends = |lost: &&LostState| lost.last_kept.is_none();
    let (lost, stories) = (evidence.lost, evidence.histories);
    let number = move |nth: usize| {
        let before = lost.iter().take(nth).filter(ends).count();
        u32::try_from(before).unwrap_or(u32::MAX)
    };
    let gone = lost
        .iter()
        .enumerate()
        .flat_map(move |(nth, lost)| lost.histories.iter().map(move |story| (number(nth), story)));
    gone.chain(stories.iter().map(move |story| (number(lost.len()), story)))
}

/// Returns the number of states, each begun empty, with an intent of this mark.
pub(crate) fn new_state_count(evidence: &RunEvidence<'_>, mark: &str) -> usize {
    let own = all_intents(evidence).filter(|(_, story)| story.intent.mark.as_str() == mark);
    own.map(|(state, _)| state).collect::<BTreeSet<u32>>().len()
}

/// Returns the number of contacts that a state created without knowing that an earlier state had
/// created them.
pub(crate) fn recreated_contacts(evidence: &RunEvidence<'_>) -> u32 {
    let done = |story: &IntentHistory| {
        matches!(story.progress.last(), Some((_, IntentProgress::Done { .. })))
    };
    let contacts = all_intents(evidence)
        .filter(|(_, story)| story.intent.effect == "contact.create" && done(story));
    let all: BTreeSet<(&str, u32)> =
        contacts.map(|(state, story)| (story.intent.source_id.as_str(), state)).collect();
    let names: BTreeSet<&str> = all.iter().map(|(name, _)| *name).collect();
    u32::try_from(all.len().saturating_sub(names.len())).unwrap_or(u32::MAX)
}

/// Returns true if a lost state sent an invoice with other content, so that the service's invoice
/// differs from the request.
pub(crate) fn was_sent_differently(evidence: &RunEvidence<'_>, story: &IntentHistory) -> bool {
    let name = name_of(&story.intent);
    let lost = |at: DateTime<Utc>| {
        evidence.lost.iter().any(|lost| at <= lost.at && lost.at <= story.intent.at)
    };
    let same = evidence.arrivals.iter().filter(|one| one.name == name);
    let asked: Vec<_> = same.clone().filter(|one| one.at >= story.intent.at).collect();
    let mut before = same.filter(|one| lost(one.at) && one.status == 200);
    story.intent.effect == "invoice.create"
        && before.any(|one| asked.iter().any(|now| now.body != one.body))
}

/// Returns true if an intent was written before a loss: its later progress in the lost state is
/// unknown.
pub(crate) fn was_open_at_loss(evidence: &RunEvidence<'_>, story: &IntentHistory) -> bool {
    evidence.lost.iter().any(|lost| lost.last_kept.is_some() && story.intent.at <= lost.at)
}

/// Returns true if an application was decided and the state that knew the decision may be lost. The
/// service never repeats its webhook.
pub(crate) fn may_miss_decision(evidence: &RunEvidence<'_>, doc: &Doc) -> bool {
    let mut names = vec![doc.name.as_str()];
    let ever = evidence.all_documents();
    for _ in 0..2 {
        let further =
            names.iter().filter_map(|name| ever.get(name)).flat_map(|one| one.references());
        names.extend(further.collect::<Vec<_>>());
    }
    let applications = ever.values().filter(|one| names.contains(&one.name.as_str()));
    applications
        .into_iter()
        .any(|one| one.mark(one.generation).is_some_and(|mark| submitted_before(evidence, &mark)))
}

/// Returns true if an application was submitted before the newest loss. The lost state may have
/// received its decision, which the service never repeats.
pub(crate) fn submitted_before(evidence: &RunEvidence<'_>, mark: &Mark) -> bool {
    let Some(last) = evidence.lost.last() else { return false };
    evidence.arrivals.iter().any(|arrival| {
        arrival.effect == Some("application.submit")
            && arrival.at <= last.at
            && arrival.name.2 == mark.as_str()
    })
}

/// Returns how often a contact may have been created, and how many attempts were given up and
/// reported. Each state that began empty creates it once for each generation.
pub(crate) fn possible_creations(evidence: &RunEvidence<'_>, name: &str) -> (usize, usize) {
    let (mut sources, mut given_up) = (BTreeSet::new(), BTreeSet::new());
    for (state, story) in all_intents(evidence).filter(|(_, story)| story.document() == name) {
        sources.insert((state, story.intent.source_id.as_str()));
        if story.given_up() {
            given_up.insert((state, story.intent.id, story.intent.at));
        }
    }
    (sources.len(), given_up.len())
}

/// Returns true if a lost state deleted the object. A backup assumes that the object exists until a
/// list is read without it, and then a person decides.
fn was_deleted(evidence: &RunEvidence<'_>, name: &str) -> bool {
    let restored = evidence.lost.iter().filter(|lost| lost.last_kept.is_some());
    let mut stories = restored.flat_map(|lost| &lost.histories);
    stories.any(|story| story.document() == name && story.intent.effect.ends_with(".delete"))
}

/// Returns true if one of these documents, or the merchant of `doc`, waits for a person since a
/// loss.
pub(crate) fn is_waiting(evidence: &RunEvidence<'_>, doc: &Doc, names: &[&str]) -> bool {
    let merchant = doc.merchant();
    let waiting = evidence.views.iter().filter(|view| is_stopped(view));
    may_miss_decision(evidence, doc)
        || names.iter().any(|name| was_deleted(evidence, name))
        || !evidence.lost.is_empty()
            && waiting.into_iter().any(|view| names.contains(&&*view.name) || view.name == merchant)
}

fn is_stopped(view: &ResourceView) -> bool {
    is_held_by_epoch(view) || is_held_by_unknown_marks(view)
}

fn is_held_by_epoch(view: &ResourceView) -> bool {
    view.message.contains("store release")
}

fn is_held_by_unknown_marks(view: &ResourceView) -> bool {
    view.message.contains("marks of ours")
}

/// Checks that a resource waiting since a loss gives its reason, and that its result could not be
/// proved.
pub(crate) fn check_waiting(evidence: &RunEvidence<'_>, found: &mut Vec<Violation>) {
    for view in evidence.views.iter().filter(|view| is_stopped(view)) {
        let fits = if is_held_by_epoch(view) {
            may_exist(evidence, view)
        } else {
            view.kind == "Merchant" && has_unknown_marks(evidence)
        };
        if evidence.lost.is_empty() || !fits {
            let text = format!("{} {} waits for a person: {}", view.kind, view.name, view.message);
            found.push(Violation::new("settles", text));
        }
    }
}

/// Returns true if the kind is hidden at the service, a backup was restored, and no later record
/// proves the creation.
fn may_exist(evidence: &RunEvidence<'_>, view: &ResourceView) -> bool {
    let hidden = ["Contact", "MerchantApplication"].contains(&&*view.kind);
    let restored = evidence.lost.iter().any(|lost| lost.last_kept.is_some());
    let newest = evidence.files().and_then(|files| files.get(&view.name));
    let source = newest.and_then(|doc| doc.source_id(doc.generation));
    let done = |story: &IntentHistory| {
        Some(&story.intent.source_id) == source.as_ref()
            && matches!(story.progress.last(), Some((_, IntentProgress::Done { .. })))
    };
    hidden && restored && !evidence.intents(&view.name).any(done)
}

/// Returns true if the service holds marks that no intent of the journal gave.
fn has_unknown_marks(evidence: &RunEvidence<'_>) -> bool {
    let known: BTreeSet<&str> =
        evidence.histories.iter().map(|story| story.intent.mark.as_str()).collect();
    let objects = evidence.objects;
    let marks = objects.methods.iter().map(|one| text(one, "reference").to_owned());
    let marks = marks.chain(objects.recurring.iter().map(mark_of));
    marks.into_iter().any(|mark| !known.contains(mark.as_str()))
}
