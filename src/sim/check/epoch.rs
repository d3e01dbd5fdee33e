//! What was lost with a state, and what may wait for a person because of it.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use super::once::mark_of;
use super::{Evidence, Violation};
use crate::base::hash::Mark;
use crate::engine::ResourceView;
use crate::model::intent::Progress;
use crate::sim::desk::text;
use crate::sim::durable::{Story, name_of};
use crate::sim::world::Doc;

/// A state that was lost.
#[derive(Debug, Clone)]
pub struct Lost {
    /// When.
    pub at: DateTime<Utc>,
    /// The last record of the backup in its place; none where nothing was restored.
    pub kept: Option<u64>,
    /// Every intent that it knew.
    pub stories: Vec<Story>,
}

/// Every intent ever, with the number of the state that it belongs to: a restored one goes on, an empty one is new.
fn ever<'a>(evidence: &Evidence<'a>) -> impl Iterator<Item = (u32, &'a Story)> {
    let ends = |lost: &&Lost| lost.kept.is_none();
    let (lost, stories) = (evidence.lost, evidence.stories);
    let number = move |nth: usize| {
        let before = lost.iter().take(nth).filter(ends).count();
        u32::try_from(before).unwrap_or(u32::MAX)
    };
    let gone = lost
        .iter()
        .enumerate()
        .flat_map(move |(nth, lost)| lost.stories.iter().map(move |story| (number(nth), story)));
    gone.chain(stories.iter().map(move |story| (number(lost.len()), story)))
}

/// How many states that began with nothing had an intent of this mark.
pub(super) fn begun(evidence: &Evidence<'_>, mark: &str) -> usize {
    let own = ever(evidence).filter(|(_, story)| story.intent.mark.as_str() == mark);
    own.map(|(state, _)| state).collect::<BTreeSet<u32>>().len()
}

/// How many contacts were made by a state that did not know that an earlier one had made them.
pub(super) fn made_again(evidence: &Evidence<'_>) -> u32 {
    let done = |story: &Story| matches!(story.progress.last(), Some((_, Progress::Done { .. })));
    let contacts =
        ever(evidence).filter(|(_, story)| story.intent.effect == "contact.create" && done(story));
    let all: BTreeSet<(&str, u32)> =
        contacts.map(|(state, story)| (story.intent.source_id.as_str(), state)).collect();
    let names: BTreeSet<&str> = all.iter().map(|(name, _)| *name).collect();
    u32::try_from(all.len().saturating_sub(names.len())).unwrap_or(u32::MAX)
}

/// Whether an invoice was sent by a state that was lost, with other words: what the service has is not what is asked.
pub(super) fn was_other(evidence: &Evidence<'_>, story: &Story) -> bool {
    let name = name_of(&story.intent);
    let lost = |at: DateTime<Utc>| {
        evidence.lost.iter().any(|lost| at <= lost.at && lost.at <= story.intent.at)
    };
    let same = evidence.arrivals.iter().filter(|one| one.name == name);
    let asked: Vec<_> = same.clone().filter(|one| one.at >= story.intent.at).collect();
    let mut before = same.filter(|one| lost(one.at) && one.status == 200);
    story.intent.effect == "invoice.create"
        && before.any(|one| asked.iter().any(|now| now.asked != one.asked))
}

/// Whether an intent was written before a state was lost: what that state learnt of it later is not known any more.
pub(super) fn was_open(evidence: &Evidence<'_>, story: &Story) -> bool {
    evidence.lost.iter().any(|lost| lost.kept.is_some() && story.intent.at <= lost.at)
}

/// Whether an application was decided, and the state that heard of it is lost: nobody tells it again.
pub(super) fn unheard(evidence: &Evidence<'_>, doc: &Doc) -> bool {
    let mut names = vec![doc.name.as_str()];
    let ever = evidence.ever();
    for _ in 0..2 {
        let further = names.iter().filter_map(|name| ever.get(name)).flat_map(|one| one.needs());
        names.extend(further.collect::<Vec<_>>());
    }
    let applications = ever.values().filter(|one| names.contains(&one.name.as_str()));
    applications
        .into_iter()
        .any(|one| one.mark(one.generation).is_some_and(|mark| submitted_before(evidence, &mark)))
}

/// Whether an application was submitted before the newest loss: the lost state may have heard of its decision, and
/// nobody tells it again.
pub(super) fn submitted_before(evidence: &Evidence<'_>, mark: &Mark) -> bool {
    let Some(last) = evidence.lost.last() else { return false };
    evidence.arrivals.iter().any(|arrival| {
        arrival.effect == Some("application.submit")
            && arrival.at <= last.at
            && arrival.name.2 == mark.as_str()
    })
}

/// How often a contact may have been made: once for each generation, by each state that began with nothing; and
/// how many tries were given up and reported.
pub(super) fn made(evidence: &Evidence<'_>, name: &str) -> (usize, usize) {
    let (mut sources, mut given_up) = (BTreeSet::new(), BTreeSet::new());
    for (state, story) in ever(evidence).filter(|(_, story)| story.document() == name) {
        sources.insert((state, story.intent.source_id.as_str()));
        if story.given_up() {
            given_up.insert((state, story.intent.id, story.intent.at));
        }
    }
    (sources.len(), given_up.len())
}

/// Whether a state that was lost deleted the object: a backup believes that it is there until a look at the lists says
/// that it is not, and then a person decides.
fn was_deleted(evidence: &Evidence<'_>, name: &str) -> bool {
    let restored = evidence.lost.iter().filter(|lost| lost.kept.is_some());
    let mut stories = restored.flat_map(|lost| &lost.stories);
    stories.any(|story| story.document() == name && story.intent.effect.ends_with(".delete"))
}

/// Whether one of these documents, or the merchant of one, waits for a person since a state was lost.
pub(super) fn waits(evidence: &Evidence<'_>, doc: &Doc, names: &[&str]) -> bool {
    let merchant = doc.merchant();
    let waiting = evidence.views.iter().filter(|view| is_stopped(view));
    unheard(evidence, doc)
        || names.iter().any(|name| was_deleted(evidence, name))
        || !evidence.lost.is_empty()
            && waiting.into_iter().any(|view| names.contains(&&*view.name) || view.name == merchant)
}

fn is_stopped(view: &ResourceView) -> bool {
    by_epoch(view) || by_marks(view)
}

fn by_epoch(view: &ResourceView) -> bool {
    view.message.contains("store release")
}

fn by_marks(view: &ResourceView) -> bool {
    view.message.contains("marks of ours")
}

/// What waits since a state was lost says why, and nothing could prove it.
pub(super) fn held(evidence: &Evidence<'_>, found: &mut Vec<Violation>) {
    for view in evidence.views.iter().filter(|view| is_stopped(view)) {
        let fits = if by_epoch(view) {
            may_be_made(evidence, view)
        } else {
            view.kind == "Merchant" && has_strangers(evidence)
        };
        if evidence.lost.is_empty() || !fits {
            let text = format!("{} {} waits for a person: {}", view.kind, view.name, view.message);
            found.push(Violation::new("settles", text));
        }
    }
}

/// Whether it is of a kind that nothing shows, a backup was restored, and what is known since does not tell that it
/// was made.
fn may_be_made(evidence: &Evidence<'_>, view: &ResourceView) -> bool {
    let hidden = ["Contact", "MerchantApplication"].contains(&&*view.kind);
    let restored = evidence.lost.iter().any(|lost| lost.kept.is_some());
    let newest = evidence.files().and_then(|files| files.get(&view.name));
    let source = newest.and_then(|doc| doc.source_id(doc.generation));
    let done = |story: &Story| {
        Some(&story.intent.source_id) == source.as_ref()
            && matches!(story.progress.last(), Some((_, Progress::Done { .. })))
    };
    hidden && restored && !evidence.intents(&view.name).any(done)
}

/// Whether the service holds marks that no intent of the journal gave.
fn has_strangers(evidence: &Evidence<'_>) -> bool {
    let known: BTreeSet<&str> =
        evidence.stories.iter().map(|story| story.intent.mark.as_str()).collect();
    let objects = evidence.objects;
    let marks = objects.methods.iter().map(|one| text(one, "reference").to_owned());
    let marks = marks.chain(objects.recurring.iter().map(mark_of));
    marks.into_iter().any(|mark| !known.contains(mark.as_str()))
}
