//! Compares the objects of a list with the known state: differences, objects that ended, and unknown
//! objects with a mark of ours. Decides only.
//!
//! An unknown mark stops its merchant: a journal was lost, or another journal is in use. A second
//! object with the mark of a resource stops that resource, until one of the two is gone.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Map, Value, json};

use crate::base::clock::timestamp;
use crate::base::hash::{Mark, SourceId};
use crate::base::id::{Key, RemoteId};
use crate::effects::merchants::read::{collection_of, mark_of};
use crate::engine::handles::shared::{EngineResult, EngineShared};
use crate::kinds::register;
use crate::kinds::remote::readback::{ReadBack, changed_facts, detect_drift};
use crate::model::record::Record;
use crate::model::state::drift::{DRIFT, Drift, VANISHED};
use crate::model::state::observed::{AppliedSpec, FactSource, Observation, Observed};
use crate::model::state::orphan::{UnknownObject, UnknownObjectsFound};

const LOOK_MAX: TimeDelta = TimeDelta::hours(1);

pub(crate) struct ListRead<'a> {
    pub(crate) back: &'static ReadBack,
    pub(crate) key: &'a [u8; 32],
    /// Begin of the read: facts learnt since are newer.
    pub(crate) at: DateTime<Utc>,
}

pub(crate) struct ListedObject<'a> {
    pub(crate) key: Key,
    pub(crate) item: &'a Value,
}

impl<'a> ListedObject<'a> {
    /// Returns the resource of an object with its id, removed from those still to be found.
    pub(crate) fn of(
        item: &'a Value,
        ours: &mut BTreeMap<RemoteId, Key>,
    ) -> Option<(RemoteId, Self)> {
        let id = RemoteId::new(item.get("id")?.as_str()?).ok()?;
        let key = ours.remove(&id)?;
        Some((id, Self { key, item }))
    }
}

impl ListRead<'_> {
    /// Returns the record of a difference in an existing object; `None`: there is none.
    pub(crate) fn compare(
        &self,
        found: &ListedObject<'_>,
        known: &Observed,
        ignored: &[String],
    ) -> Option<Record> {
        if let Some(why) = (self.back.ended_reason)(found.item) {
            return self.ended_record(&found.key, known, &why);
        }
        let mut facts = changed_facts(self.back, known, found.item);
        let back_again = !known.fact(VANISHED).is_null();
        if let (true, Some(facts)) = (back_again, facts.as_object_mut()) {
            facts.insert(VANISHED.to_owned(), Value::Null);
        }
        let fields = register::find(found.key.kind.as_str())?.fields;
        let drift = detect_drift(self.back, fields, self.key, known, found.item);
        let drift =
            drift.and_then(|(applied, paths)| without_ignored(known, &applied, paths, ignored));
        let applied = drift.map(|(applied, paths)| {
            let before = Drift::of(known);
            let drift =
                Drift::with_found(before.as_ref(), applied.digest, paths, &timestamp(&self.at));
            if let Some(facts) = facts.as_object_mut() {
                facts.insert(DRIFT.to_owned(), json!(drift));
            }
            applied
        });
        let is_news = applied.is_some() || facts.as_object().is_some_and(|facts| !facts.is_empty());
        is_news.then(|| self.record(&found.key, known, applied, facts))
    }

    /// Returns the record of an object that ended at the service: it is not made again by itself.
    pub(crate) fn ended_record(&self, key: &Key, known: &Observed, why: &str) -> Option<Record> {
        let told = json!({"id": known.remote_id, "why": why});
        let same = |name: &str| known.fact(VANISHED).get(name) == told.get(name);
        let facts = Map::from_iter([(VANISHED.to_owned(), told.clone())]);
        let is_news = !(same("id") && same("why"));
        is_news.then(|| self.record(key, known, None, Value::Object(facts)))
    }

    /// Returns the time of an observation. A known fact that lies far ahead of the read cannot be
    /// newer: the clock was set back in between.
    fn observation_time(&self, known: &Observed) -> DateTime<Utc> {
        let lasts = self.at.checked_add_signed(LOOK_MAX).unwrap_or(self.at);
        if known.at > lasts { known.at } else { self.at }
    }

    fn record(
        &self,
        key: &Key,
        known: &Observed,
        applied: Option<AppliedSpec>,
        facts: Value,
    ) -> Record {
        Record::Observation(Box::new(Observation {
            key: key.clone(),
            merchant: known.merchant.clone(),
            at: self.observation_time(known),
            source: FactSource::Read,
            remote_id: None,
            exists: None,
            applied,
            facts,
        }))
    }
}

fn without_ignored(
    known: &Observed,
    applied: &AppliedSpec,
    paths: Vec<String>,
    ignored: &[String],
) -> Option<(AppliedSpec, Vec<String>)> {
    let is_ignored = |path: &String| {
        let rest_behind = |one: &String| path.strip_prefix(one.as_str());
        let is_field = |rest: &str| rest.is_empty() || rest.starts_with('.');
        ignored.iter().any(|one| one == "*" || rest_behind(one).is_some_and(is_field))
    };
    let (minded, left): (Vec<String>, Vec<String>) =
        paths.into_iter().partition(|path| !is_ignored(path));
    let mut spec = applied.spec.clone();
    for path in left {
        let pointer = format!("/{}", path.replace('.', "/"));
        let before = known.applied.as_ref().and_then(|before| before.spec.pointer(&pointer));
        if let (Some(now), Some(before)) = (spec.pointer_mut(&pointer), before) {
            *now = before.clone();
        }
    }
    (!minded.is_empty()).then(|| (AppliedSpec { spec, ..applied.clone() }, minded))
}

pub(crate) fn without_disowned(mut items: Vec<Value>, disowned: &BTreeSet<String>) -> Vec<Value> {
    let ours = |item: &Value| {
        let id = item.get("id").and_then(Value::as_str);
        id.is_none_or(|id| !disowned.contains(id))
    };
    if !disowned.is_empty() {
        items.retain(ours);
    }
    items
}

/// One list read: the list's row, and the begin of the read.
pub(crate) type ListReadStart = (&'static ReadBack, DateTime<Utc>);

/// Returns the changes of unknown objects since the last read of this list.
pub(crate) fn changed_unknown_objects(
    shared: &EngineShared,
    merchant: &Key,
    look: ListReadStart,
    items: &[Value],
) -> EngineResult<Vec<UnknownObjectsFound>> {
    let mut found: BTreeMap<Key, Vec<UnknownObject>> = BTreeMap::new();
    for key in shared.facts.unknown_objects()?.into_values() {
        found.entry(key).or_default();
    }
    let declared = shared.facts.is_empty_remote()?;
    for item in items {
        if let Some((key, stray)) = unknown_object(shared, merchant, look, item, declared)? {
            found.entry(key).or_default().push(stray);
        }
    }
    let mut news = Vec::new();
    for (key, now) in found {
        let known = shared.facts.observed_state(&key)?;
        let owner = known.as_ref().map_or(merchant, |known| &known.merchant);
        let before = known.as_ref().map_or(&[][..], |known| &known.unknown_objects);
        let all = merge_list(before, now, look.0.list_name);
        if *owner == *merchant && all != before {
            let merchant = merchant.clone();
            news.push(UnknownObjectsFound { key, merchant, found: all, at: look.1 });
        }
    }
    Ok(news)
}

/// Merges earlier and present unknown objects of a list. An unknown mark stays until a person
/// handles it; a second object that is gone is dropped.
fn merge_list(before: &[UnknownObject], now: Vec<UnknownObject>, list: &str) -> Vec<UnknownObject> {
    let stays = |stray: &&UnknownObject| stray.list != list || !stray.is_duplicate;
    let mut all: BTreeMap<RemoteId, UnknownObject> = BTreeMap::new();
    for stray in now.into_iter().chain(before.iter().filter(stays).cloned()) {
        all.entry(stray.id.clone()).or_insert(stray);
    }
    all.into_values().collect()
}

/// Returns the resource that an unknown object blocks, with the object.
fn unknown_object(
    shared: &EngineShared,
    merchant: &Key,
    (back, at): ListReadStart,
    item: &Value,
    declared: bool,
) -> EngineResult<Option<(Key, UnknownObject)>> {
    let id = item.get("id").and_then(Value::as_str).and_then(|id| RemoteId::new(id).ok());
    let Some((mark, id)) = mark_of(item).zip(id) else { return Ok(None) };
    if is_known_object(shared, &id)? {
        return Ok(None);
    }
    let stray = |second| UnknownObject {
        id: id.clone(),
        mark: mark.clone(),
        list: back.list_name.to_owned(),
        is_duplicate: second,
        collection: collection_of(item),
    };
    let Some(key) = shared.facts.resource_of_mark(mark.as_str())? else {
        return Ok((!declared).then(|| (merchant.clone(), stray(false))));
    };
    let under_way = shared.facts.open_intent(&key)?.is_some();
    let partner = &shared.settings.planning.partner;
    let known = shared.facts.observed_state(&key)?;
    let other = known.is_none_or(|one| one.at <= at && is_present(partner, &key, &one, &mark));
    let there = (back.ended_reason)(item).is_none();
    Ok((other && there && !under_way).then(|| (key, stray(true))))
}

/// Returns true if this is the object of a resource, whatever mark it carries.
fn is_known_object(shared: &EngineShared, id: &RemoteId) -> EngineResult<bool> {
    for (key, _) in shared.facts.resources_of_id(id.as_str())? {
        let known = shared.facts.observed_state(&key)?;
        if known.is_some_and(|known| known.remote_id.as_ref() == Some(id)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns true if a mark is that of a resource's present object; a replaced one keeps its own.
fn is_present(partner: &str, key: &Key, known: &Observed, mark: &Mark) -> bool {
    let generation = known.applied.as_ref().map_or(0, |applied| applied.generation);
    SourceId::new(partner, known.first_name().unwrap_or(key), generation).mark() == *mark
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unknown(id: &str, list: &str, second: bool) -> UnknownObject {
        let mark = Mark::parse("rkabcdefghijklmnopqrstuvwxya").unwrap();
        UnknownObject {
            id: id.parse().unwrap(),
            mark,
            list: list.to_owned(),
            is_duplicate: second,
            collection: None,
        }
    }

    #[test]
    fn a_second_object_that_went_is_forgotten_and_an_unknown_mark_is_not() {
        let before = [
            unknown("a", "cards", true),
            unknown("b", "cards", false),
            unknown("c", "banks", true),
        ];
        let ids =
            |all: Vec<UnknownObject>| all.iter().map(|one| one.id.to_string()).collect::<Vec<_>>();
        assert_eq!(ids(merge_list(&before, Vec::new(), "cards")), ["b", "c"]);
        assert_eq!(
            ids(merge_list(&before, vec![unknown("d", "cards", true)], "cards")),
            ["b", "c", "d"]
        );
        assert_eq!(merge_list(&before, vec![unknown("a", "cards", true)], "cards"), before);
    }

    #[test]
    fn what_is_nobody_s_is_in_no_list() {
        let items = || vec![serde_json::json!({"id": "a"}), serde_json::json!({"id": "b"})];
        assert_eq!(without_disowned(items(), &BTreeSet::new()).len(), 2);
        assert_eq!(
            without_disowned(items(), &BTreeSet::from(["a".to_owned()])),
            [items().remove(1)]
        );
    }
}
