//! Checks of the state: a damaged journal never opens as if it were complete, a compaction changes
//! no known fact, no view of the running engine is older than a record, and only resources that a
//! lost state leaves in doubt wait for a person.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrono::{DateTime, Utc};

use crate::base::hash::Mark;
use crate::engine::protocol::diagnostics::Metrics;
use crate::engine::protocol::intents::IntentsView;
use crate::engine::protocol::views::ResourceView;
use crate::model::intent::IntentState;
use crate::sim::check::evidence::{LostState, RunEvidence, Violation, Violations};
use crate::sim::machine::journal::{DurableRecord, IntentHistory, name_of};
use crate::sim::machine::process::{Machine, copy};
use crate::sim::plan::documents::Doc;
use crate::sim::plan::parts::add;
use crate::sim::service::control::{mark_of, text};
use crate::sim::service::sandbox::Objects;
use crate::store::disk::traits::{Disk, to_u64};
use crate::store::journal::files::JournalOptions;
use crate::store::journal::log::Journal;
use crate::store::read_model::model::{ReadModel, ReadModelError};

/// Compacts copies of the disks and compares the states.
pub(crate) async fn check_compaction(machine: &Machine, found: &mut Violations) {
    let mut wrong = |text: String| found.push(Violation::new("journal", text));
    match machine.compact_copies().await {
        Err(error) => wrong(format!("the state cannot be compacted: {error}")),
        Ok(Some([before, after])) => {
            if before.digest != after.digest {
                wrong("a compaction changed the known facts".to_owned());
            }
            for (value, opened) in &before.values {
                let opens = after.values.get(value).copied().unwrap_or("is not known");
                if opens != *opened {
                    wrong(format!(
                        "a value {opened} before a compaction, and {opens} after it: {value}"
                    ));
                }
            }
        }
        Ok(None) => {}
    }
}

/// Number of damaged bytes, each on a copy of its own.
const TRIES: u32 = 4;

/// Damages records before the last one on copies of the journal, and reports each copy that opens.
pub(crate) fn check_damage(
    machine: &mut Machine,
    entries: &[DurableRecord],
    found: &mut Violations,
) {
    let last = entries.last().map(|entry| entry.sequence);
    let followed: Vec<&DurableRecord> =
        entries.iter().filter(|one| Some(one.sequence) != last).collect();
    for _ in 0..TRIES {
        let Some(entry) = machine.dice.pick(&followed).copied() else { return };
        let (file, begins, ends) = &entry.place;
        let width = to_u64(ends.saturating_sub(*begins));
        let at = to_u64(*begins).saturating_add(machine.dice.below(width));
        let damaged = copy(&machine.journal);
        let byte = damaged.read_at(file, at, 1).ok().and_then(|bytes| bytes.first().copied());
        let written = damaged.write_at(file, at, &[byte.unwrap_or(0) ^ 0x55]);
        let opened = Journal::open(Arc::new(damaged), JournalOptions::default());
        if written.is_ok() && opened.is_ok() {
            let number = entry.sequence;
            let text =
                format!("record {number} is damaged in byte {at} of {file}, and the journal opens");
            found.push(Violation::new("journal", text));
        }
    }
}

#[derive(Debug)]
pub(crate) struct ViewSnapshot {
    pub(crate) intents: IntentsView,
    pub(crate) metrics: Metrics,
    pub(crate) resources: Vec<ResourceView>,
}

/// Compares views with the fold, which did not change meanwhile.
pub(crate) fn check_views(
    facts: &ReadModel,
    asked: &ViewSnapshot,
) -> Result<Violations, ReadModelError> {
    let mut found = Vec::new();
    let mut wrong = |text: String| found.push(Violation::new("views", text));
    let mut states: BTreeMap<&str, u32> = BTreeMap::new();
    let open = facts.open_intents()?;
    for one in &open {
        add(&mut states, one.state.word(), 1);
        let (id, state) = (one.intent.id.to_string(), one.state.word());
        let shown = asked.intents.items.iter().find(|item| item.id == id);
        if shown.is_none_or(|item| item.state != state || item.attempts != one.state.attempt()) {
            wrong(format!("{id} is {state}, and intents shows {shown:?}"));
        }
        let key = &one.intent.key;
        let view = asked.resources.iter().find(|view| view.is_of(key));
        let in_flight = match one.state {
            IntentState::Open { .. } | IntentState::Closed => "InFlight",
            IntentState::InDoubt { .. } => "InDoubt",
            IntentState::OnHold { .. } => "Held",
        };
        let differs = |view: &&ResourceView| view.reason != in_flight || view.ready;
        if let Some(ResourceView { reason, ready, .. }) = view.filter(differs) {
            wrong(format!("{key} is {state}, and get shows {reason} (ready: {ready})"));
        }
    }
    let shown = asked.intents.items.len();
    if shown != open.len() || asked.metrics.overview.open_intents != open.len() {
        let counted = asked.metrics.overview.open_intents;
        wrong(format!("{} intents are open; intents shows {shown}, status {counted}", open.len()));
    }
    for (state, (count, _)) in &asked.metrics.intents {
        if u64::from(states.get(state.as_str()).copied().unwrap_or(0)) != *count {
            wrong(format!("metrics count {count} intents as {state}, and the fold has {states:?}"));
        }
    }
    Ok(found)
}

/// Returns every intent ever, with the number of its state. A restored state continues the old
/// number, and an empty one has a new number.
fn all_intents<'a>(evidence: &RunEvidence<'a>) -> impl Iterator<Item = (u32, &'a IntentHistory)> {
    let ends = |lost: &&LostState| lost.last_kept.is_none();
    let (lost, stories) = (evidence.lost, evidence.histories);
    let number = move |nth: usize| {
        let before = lost.iter().take(nth).filter(ends).count();
        u32::try_from(before).unwrap_or(u32::MAX)
    };
    let all = lost.iter().map(|lost| &*lost.histories).chain([stories]).enumerate();
    all.flat_map(move |(nth, stories)| stories.iter().map(move |story| (number(nth), story)))
}

/// Returns the number of states, each begun empty, with an intent of this mark.
pub(crate) fn new_state_count(evidence: &RunEvidence<'_>, mark: &str) -> usize {
    let own = all_intents(evidence).filter(|(_, story)| story.intent.mark.as_str() == mark);
    own.map(|(state, _)| state).collect::<BTreeSet<u32>>().len()
}

/// Returns the number of creations that were given up without proof and made again, and of contacts
/// that a state created without knowing that an earlier state had created them.
pub(crate) fn recreated(evidence: &RunEvidence<'_>) -> u32 {
    let given_up = evidence.histories.iter().filter(|story| story.given_up()).count();
    let contacts = all_intents(evidence)
        .filter(|(_, story)| story.intent.effect == "contact.create" && story.is_done());
    let all: BTreeSet<(&str, u32)> =
        contacts.map(|(state, story)| (story.intent.source_id.as_str(), state)).collect();
    let names: BTreeSet<&str> = all.iter().map(|(name, _)| *name).collect();
    let again = given_up.saturating_add(all.len().saturating_sub(names.len()));
    u32::try_from(again).unwrap_or(u32::MAX)
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

/// Returns true if an application was submitted before the newest loss. The lost state may have
/// received its decision, which the service never repeats.
pub(crate) fn submitted_before(evidence: &RunEvidence<'_>, mark: &Mark) -> bool {
    let Some(last) = evidence.lost.last() else { return false };
    let mut submitted = evidence.arrivals_of("application.submit");
    submitted.any(|arrival| arrival.at <= last.at && arrival.name.2 == mark.as_str())
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
pub(crate) fn is_waiting(evidence: &RunEvidence<'_>, doc: &Doc, needs: &[&Doc]) -> bool {
    let mut waiting = evidence.views.iter().filter(|view| is_stopped(view));
    let concerns = |view: &ResourceView| {
        view.name == doc.merchant() || needs.iter().any(|need| need.name == view.name)
    };
    let mut marks = needs.iter().filter_map(|need| need.mark(need.generation));
    marks.any(|mark| submitted_before(evidence, &mark))
        || needs.iter().any(|need| was_deleted(evidence, &need.name))
        || !evidence.lost.is_empty() && waiting.any(concerns)
}

fn is_stopped(view: &ResourceView) -> bool {
    is_held_by_epoch(view) || view.message.contains("marks of ours")
}

fn is_held_by_epoch(view: &ResourceView) -> bool {
    view.message.contains("store release")
}

/// Checks that a resource waiting since a loss gives its reason, and that its result could not be
/// proved.
pub(crate) fn check_waiting(evidence: &RunEvidence<'_>, found: &mut Violations) {
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
    let is_done = |doc: &Doc| evidence.intents_of(doc, doc.generation).any(IntentHistory::is_done);
    let newest = evidence.files().and_then(|files| files.get(&view.name));
    hidden && restored && !newest.is_some_and(is_done)
}

/// Returns true if the service holds marks that no intent of the journal gave.
fn has_unknown_marks(evidence: &RunEvidence<'_>) -> bool {
    let is_known =
        |mark: &str| evidence.histories.iter().any(|story| story.intent.mark.as_str() == mark);
    let Objects { methods, recurring, .. } = evidence.objects;
    methods.iter().any(|one| !is_known(text(one, "reference")))
        || recurring.iter().any(|one| !is_known(&mark_of(one)))
}
