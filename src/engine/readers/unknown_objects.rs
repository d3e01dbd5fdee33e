//! Unknown objects: objects of a list that carry a mark of ours and do not match this state.
//! Decides only.
//!
//! An unknown mark stops its merchant: a journal was lost, or another journal is in use. A second
//! object with the mark of a resource stops that resource, until one of the two is gone.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::base::hash::{Mark, SourceId};
use crate::base::id::{Key, RemoteId};
use crate::effects::merchants::survey::{collection_of, mark_of};
use crate::engine::handles::shared::{EngineError, EngineShared};
use crate::kinds::remote::readback::ReadBack;
use crate::model::state::observed::Observed;
use crate::model::state::orphan::{UnknownObject, UnknownObjectsFound};

/// Removes the disowned objects.
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
) -> Result<Vec<UnknownObjectsFound>, EngineError> {
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
        let all = merge(before, now, look.0.list_name);
        if *owner == *merchant && all != before {
            let merchant = merchant.clone();
            news.push(UnknownObjectsFound { key, merchant, found: all, at: look.1 });
        }
    }
    Ok(news)
}

/// Merges earlier and present unknown objects of a list. An unknown mark stays until a person
/// handles it; a second object that is gone is dropped.
fn merge(before: &[UnknownObject], now: Vec<UnknownObject>, list: &str) -> Vec<UnknownObject> {
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
) -> Result<Option<(Key, UnknownObject)>, EngineError> {
    let id = item.get("id").and_then(Value::as_str).and_then(|id| RemoteId::new(id).ok());
    let Some((mark, id)) = mark_of(item).zip(id) else { return Ok(None) };
    if is_known(shared, &id)? {
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
    let other = shared
        .facts
        .observed_state(&key)?
        .is_none_or(|known| known.at <= at && is_present(partner, &key, &known, &mark));
    let there = (back.ended_reason)(item).is_none();
    Ok((other && there && !under_way).then(|| (key, stray(true))))
}

/// Returns true if this is the object of a resource, whatever mark it carries.
fn is_known(shared: &EngineShared, id: &RemoteId) -> Result<bool, EngineError> {
    for (key, _) in shared.facts.resources_of_id(id.as_str())? {
        let known = shared.facts.observed_state(&key)?;
        if known.is_some_and(|known| known.remote_id.as_ref() == Some(id)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns true if a mark belongs to the present object of a resource: a replaced object keeps its
/// own mark.
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
        assert_eq!(ids(merge(&before, Vec::new(), "cards")), ["b", "c"]);
        assert_eq!(
            ids(merge(&before, vec![unknown("d", "cards", true)], "cards")),
            ["b", "c", "d"]
        );
        assert_eq!(merge(&before, vec![unknown("a", "cards", true)], "cards"), before);
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
