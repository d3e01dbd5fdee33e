//! Positions of records in the journal, the first step of `why`: of a resource, an intent, or any word
//! that a command printed.

use serde_json::Value;

use crate::base::clock::timestamp;
use crate::base::id::Key;
use crate::engine::protocol::diagnostics::{Provenances, RecordRefs, WhySubject};
use crate::kinds::planning::step::MERCHANT;
use crate::model::effect::Action;
use crate::model::events::event::{EventEntry, EventStatus, VerifiedEvent};
use crate::model::events::hook_run::PendingAction;
use crate::model::operator::PlanApproval;
use crate::model::remote_object::RemoteObject;
use crate::store::journal::chain::Head;
use crate::store::read_model::model::{ReadModel, ReadModelError};

/// Returns the positions of a subject, from the fold.
pub fn locate(
    facts: &ReadModel,
    wanted: &WhySubject,
    head: Head,
) -> Result<Provenances, ReadModelError> {
    let known = match wanted {
        WhySubject::Resource(key) => WordMeaning { keys: vec![key.clone()], about: Vec::new() },
        WhySubject::Intent(id) => {
            let promise = facts.intent_position(*id)?;
            let keys = promise.map(|promise| promise.key).into_iter().collect();
            WordMeaning { keys, about: Vec::new() }
        }
        WhySubject::Remote(word) => look_up_word(facts, word)?,
    };
    let mut resources: Vec<RecordRefs> = Vec::new();
    for key in known.keys {
        let trail = record_refs(facts, &key)?;
        if !trail.sequences.is_empty() && !resources.contains(&trail) {
            resources.push(trail);
        }
    }
    Ok(Provenances { resources, about: known.about, head })
}

/// Returns the records about a resource, under its present and its former names.
fn record_refs(facts: &ReadModel, key: &Key) -> Result<RecordRefs, ReadModelError> {
    let names = facts.names(key)?;
    let mut sequences = Vec::new();
    for name in &names {
        sequences.extend(facts.record_sequences(name)?);
    }
    sequences.sort_unstable();
    sequences.dedup();
    Ok(RecordRefs { key: names.into_iter().next_back().unwrap_or_else(|| key.clone()), sequences })
}

/// Shortest beginning of a checksum that names a plan.
const CHECKSUM_MIN: usize = 16;

#[derive(Debug, Default)]
pub(crate) struct WordMeaning {
    /// The resources that it names, or belongs to.
    pub keys: Vec<Key>,
    pub about: Vec<String>,
}

/// Looks a word up, in one place after the other.
pub(crate) fn look_up_word(facts: &ReadModel, word: &str) -> Result<WordMeaning, ReadModelError> {
    let mut known = WordMeaning { keys: of_object(facts, word)?, about: Vec::new() };
    for merchant in facts.event_merchants()? {
        if let Some(event) = facts.event(&merchant, word)? {
            known.about.push(event_words(&merchant, word, &event));
            known.keys.extend(of_event(facts, &merchant, word, &event)?);
        }
        if let Some(object) = facts.remote_object(&merchant, word)? {
            known.about.push(object_words(&merchant, &object));
            let parent = object.parent.as_deref().map(|parent| of_object(facts, parent));
            known.keys.extend(parent.transpose()?.unwrap_or_default());
        }
    }
    of_plans(facts, word, &mut known)?;
    if known.keys.is_empty() && known.about.is_empty() {
        of_merchants(facts, word, &mut known)?;
    }
    Ok(known)
}

/// Returns the resources of an id of the service, or of a mark.
fn of_object(facts: &ReadModel, id: &str) -> Result<Vec<Key>, ReadModelError> {
    let known = facts.resources_of_id(id)?.into_iter().map(|(key, _)| key);
    Ok(known.chain(facts.resource_of_mark(id)?).collect())
}

/// Returns the resources of an event, and the actions that its hooks requested.
fn of_event(
    facts: &ReadModel,
    merchant: &Key,
    id: &str,
    event: &EventEntry,
) -> Result<Vec<Key>, ReadModelError> {
    let mut keys = match &event.status {
        EventStatus::Verified(told) => told.resources.clone(),
        EventStatus::Waiting | EventStatus::OtherMode | EventStatus::Forged => Vec::new(),
    };
    let pending = facts.pending_of(merchant, id)?;
    keys.extend(pending.iter().filter_map(|pending| PendingAction::action(pending).ok()));
    let granted = facts.action_results_of(merchant, id)?;
    let names = granted.iter().filter_map(|granted| granted.id.action_name().ok());
    keys.extend(names.map(|name| Action::key(merchant, &name)));
    Ok(keys)
}

fn event_words(merchant: &Key, id: &str, event: &EventEntry) -> String {
    let merchant = merchant.short();
    let first = timestamp(&event.first);
    let what = match &event.status {
        EventStatus::Verified(told) => {
            let VerifiedEvent { kind, created, resources: about, .. } = &**told;
            let names: Vec<String> = about.iter().map(Key::short).collect();
            let names = if names.is_empty() { merchant.clone() } else { names.join(", ") };
            format!("{kind}, created {}, about {names}", timestamp(created))
        }
        EventStatus::Waiting => format!("posted at {first}, not yet read from the service"),
        EventStatus::OtherMode => format!("posted at {first} to the address of the other mode"),
        EventStatus::Forged => format!("posted at {first}; the service has no such event"),
    };
    format!("event {id} of {merchant}: {what}")
}

fn object_words(merchant: &Key, object: &RemoteObject) -> String {
    let RemoteObject { id, kind, status, parent, modified, .. } = object;
    let status = status.as_ref().map(|status| format!(" {status}")).unwrap_or_default();
    let parent = parent.as_ref().map(|parent| format!(", of {parent}")).unwrap_or_default();
    let merchant = merchant.short();
    format!("{kind} {id} at {merchant}:{status} since {}{parent}", timestamp(modified))
}

/// Finds the approvals and the used plans of a word, and the steps that they name.
fn of_plans(facts: &ReadModel, word: &str, known: &mut WordMeaning) -> Result<(), ReadModelError> {
    let is_checksum = |checksum: &str| word.len() >= CHECKSUM_MIN && checksum.starts_with(word);
    for kept in facts.plan_approvals()? {
        let PlanApproval { id, checksum, steps, actor, at, .. } = kept.approval;
        if id == word || is_checksum(&checksum) {
            let at = timestamp(&at);
            known.about.push(format!("approval {id} of the plan {checksum}, by {actor} at {at}"));
            known.keys.extend(steps.into_iter().map(|step| step.key));
        }
    }
    for used in facts.used_plans()? {
        if used.plan == word || is_checksum(&used.checksum) {
            let (at, checksum) = (timestamp(&used.at), &used.checksum);
            let what = format!("saved plan {}, checksum {checksum}", used.plan);
            known.about.push(format!("{what}: applied by {} at {at}", used.actor));
        }
    }
    Ok(())
}

/// Finds the merchants whose facts contain a word, such as the id of an account.
fn of_merchants(
    facts: &ReadModel,
    word: &str,
    known: &mut WordMeaning,
) -> Result<(), ReadModelError> {
    for (key, merchant) in facts.observed_of(MERCHANT)? {
        if contains_text(&merchant.facts, word) {
            known.about.push(format!("{word} is part of {}", key.short()));
            known.keys.push(key);
        }
    }
    Ok(())
}

fn contains_text(value: &Value, word: &str) -> bool {
    match value {
        Value::String(text) => text == word,
        Value::Array(items) => items.iter().any(|item| contains_text(item, word)),
        Value::Object(fields) => fields.values().any(|field| contains_text(field, word)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests;
