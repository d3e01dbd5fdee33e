//! Folds adopted and forgotten resources, and objects with unknown marks of ours.
//!
//! A resource that such an object blocks continues once a person has assigned or disowned the
//! object.

use crate::base::id::{Key, RemoteId};
use crate::model::state::drift::{Adoption, Disowned, Forgotten};
use crate::model::state::observed::Observed;
use crate::model::state::orphan::UnknownObjectsFound;
use crate::store::error::{FoldError, Folded};
use crate::store::projection::observed::change_observed;
use crate::store::read_model::model::{Changes, Entries};
use crate::store::read_model::resources::{
    DISOWNED, MARKS, OBSERVED, OPEN_BY_KEY, PUBLIC_KEYS, SUSPENDED, UNKNOWN_OBJECTS,
};

/// Assigns an object to a resource. The observed state of an earlier object is discarded.
pub(crate) fn adopt(changes: &mut Changes<'_>, adoption: &Adoption) -> Folded {
    let fact = &adoption.fact;
    refuse_if_open(changes, &fact.key, "taken over")?;
    let mut known = Observed::unknown(fact.merchant.clone(), fact.at);
    if let Some(before) = OBSERVED.get(changes, &fact.key)? {
        remove_blocking_entries(changes, &before);
        (known.former, known.recreated) = (before.former, before.recreated);
    }
    known.apply(fact);
    OBSERVED.put(changes, &fact.key, &known)?;
    if let Some(mark) = &adoption.mark {
        MARKS.put(changes, mark.as_str(), &fact.key)?;
    }
    match &fact.remote_id {
        Some(id) => {
            DISOWNED.remove(changes, id.as_str());
            unblock(changes, id)
        }
        None => Ok(()),
    }
}

/// Stops managing a resource. Its object is ignored from then on, with any mark.
pub(crate) fn forget_resource(changes: &mut Changes<'_>, forgotten: &Forgotten) -> Folded {
    let key = &forgotten.key;
    refuse_if_open(changes, key, "forgotten")?;
    if let Some(known) = OBSERVED.get(changes, key)? {
        remove_blocking_entries(changes, &known);
        for public in known.merchant_binding().into_iter().flat_map(|bound| bound.public_keys) {
            if PUBLIC_KEYS.get(changes, public.as_str())?.as_ref() == Some(key) {
                PUBLIC_KEYS.remove(changes, public.as_str());
            }
        }
    }
    OBSERVED.remove(changes, key);
    SUSPENDED.remove(changes, key);
    match &forgotten.remote_id {
        Some(id) => Ok(DISOWNED.put(changes, id.as_str(), &forgotten.at)?),
        None => Ok(()),
    }
}

/// Marks an object as disowned: it belongs to no resource of ours.
pub(crate) fn disown(changes: &mut Changes<'_>, disowned: &Disowned) -> Folded {
    DISOWNED.put(changes, disowned.remote_id.as_str(), &disowned.at)?;
    unblock(changes, &disowned.remote_id)
}

/// Replaces the set of objects that block a resource; an empty set unblocks it.
pub(crate) fn set_unknown_objects(
    changes: &mut Changes<'_>,
    found: &UnknownObjectsFound,
) -> Folded {
    if let Some(known) = OBSERVED.get(changes, &found.key)? {
        remove_blocking_entries(changes, &known);
    }
    for stray in &found.found {
        UNKNOWN_OBJECTS.put(changes, stray.id.as_str(), &found.key)?;
    }
    change_observed(changes, &found.key, (&found.merchant, found.at), |known| {
        known.unknown_objects.clone_from(&found.found);
    })
}

/// Applies the declaration that nothing at the service is ours: no unknown mark blocks a resource
/// any more.
pub(crate) fn clear_unknown_marks(changes: &mut Changes<'_>) -> Folded {
    for id in UNKNOWN_OBJECTS.keys(changes)? {
        let Some(holder) = UNKNOWN_OBJECTS.get(changes, &id)? else { continue };
        let Some(mut known) = OBSERVED.get(changes, &holder)? else { continue };
        remove_blocking_entries(changes, &known);
        known.unknown_objects.retain(|stray| stray.is_duplicate);
        for stray in &known.unknown_objects {
            UNKNOWN_OBJECTS.put(changes, stray.id.as_str(), &holder)?;
        }
        OBSERVED.put(changes, &holder, &known)?;
    }
    Ok(())
}

/// Stops an object from blocking any resource.
fn unblock(changes: &mut Changes<'_>, id: &RemoteId) -> Folded {
    let Some(holder) = UNKNOWN_OBJECTS.get(changes, id.as_str())? else { return Ok(()) };
    UNKNOWN_OBJECTS.remove(changes, id.as_str());
    let Some(mut known) = OBSERVED.get(changes, &holder)? else { return Ok(()) };
    known.unknown_objects.retain(|stray| stray.id != *id);
    Ok(OBSERVED.put(changes, &holder, &known)?)
}

fn remove_blocking_entries(changes: &mut Changes<'_>, known: &Observed) {
    for stray in &known.unknown_objects {
        UNKNOWN_OBJECTS.remove(changes, stray.id.as_str());
    }
}

/// Law 5: refuses to adopt or forget a resource with an open intent.
fn refuse_if_open(entries: &impl Entries, key: &Key, what: &str) -> Folded {
    match OPEN_BY_KEY.get(entries, key)? {
        None => Ok(()),
        Some(open) => FoldError::law(5, format!("{key} is {what} while {open} is open")),
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use serde_json::json;
    use std::sync::Arc;

    use super::*;
    use crate::base::hash::Mark;
    use crate::model::record::Record;
    use crate::model::state::observed::{FactSource, Observation};
    use crate::model::state::orphan::UnknownObject;
    use crate::store::index::ordered::{Batch, Index as _, MemoryIndex};
    use crate::store::projection::fold::fold;
    use crate::store::read_model::model::ReadModel;

    const MARK: &str = "rkabcdefghijklmnopqrstuvwxya";

    fn key(text: &str) -> Key {
        text.parse().unwrap()
    }

    fn facts(records: &[Record]) -> ReadModel {
        let index = Arc::new(MemoryIndex::new());
        let mut batch = Batch::new();
        for record in records {
            fold(&*index, &mut batch, record).unwrap();
        }
        index.apply(batch).unwrap();
        ReadModel::new(index)
    }

    fn strays(ids: &[(&str, bool)]) -> Record {
        let stray = |(id, second): &(&str, bool)| UnknownObject {
            id: id.parse().unwrap(),
            mark: Mark::parse(MARK).unwrap(),
            list: "cards".to_owned(),
            is_duplicate: *second,
            collection: None,
        };
        Record::UnknownObjects(Box::new(UnknownObjectsFound {
            key: key("Merchant/acme"),
            merchant: key("Merchant/acme"),
            found: ids.iter().map(stray).collect(),
            at: DateTime::UNIX_EPOCH,
        }))
    }

    fn adopted(name: &str, id: &str) -> Record {
        Record::Adopted(Box::new(Adoption {
            fact: Observation {
                key: key(name),
                merchant: key("Merchant/acme"),
                at: DateTime::UNIX_EPOCH,
                source: FactSource::Operator,
                remote_id: Some(id.parse().unwrap()),
                exists: Some(true),
                applied: None,
                facts: json!({"last4": "4242"}),
            },
            mark: Mark::parse(MARK),
            verified: true,
            actor: "uid 7".to_owned(),
            place: None,
            commit: None,
        }))
    }

    fn forgotten(name: &str, id: &str) -> Record {
        Record::Forgotten(Box::new(Forgotten {
            key: key(name),
            remote_id: Some(id.parse().unwrap()),
            actor: "uid 7".to_owned(),
            at: DateTime::UNIX_EPOCH,
        }))
    }

    fn in_the_way(facts: &ReadModel) -> Vec<String> {
        facts.unknown_objects().unwrap().into_keys().collect()
    }

    #[test]
    fn what_is_taken_over_or_disowned_stands_in_nobody_s_way() {
        let found = strays(&[("card_1", false), ("card_2", false), ("card_3", true)]);
        let disowned = Record::Disowned(Box::new(Disowned {
            key: key("Merchant/acme"),
            remote_id: "card_2".parse().unwrap(),
            actor: "uid 7".to_owned(),
            at: DateTime::UNIX_EPOCH,
        }));
        let all = facts(std::slice::from_ref(&found));
        assert_eq!(in_the_way(&all), ["card_1", "card_2", "card_3"]);
        let one = facts(&[found.clone(), adopted("SavedMethod/jane", "card_1")]);
        assert_eq!(in_the_way(&one), ["card_2", "card_3"]);
        assert_eq!(one.resource_of_mark(MARK).unwrap(), Some(key("SavedMethod/jane")));
        let two = facts(&[found.clone(), adopted("SavedMethod/jane", "card_1"), disowned]);
        assert_eq!(in_the_way(&two), ["card_3"]);
        assert_eq!(two.disowned_ids().unwrap().into_iter().collect::<Vec<_>>(), ["card_2"]);
        let known = two.observed_state(&key("Merchant/acme")).unwrap().unwrap();
        assert_eq!(known.unknown_objects.len(), 1);
        let word = Record::EmptyRemote { at: DateTime::UNIX_EPOCH, actor: "uid 7".to_owned() };
        assert_eq!(
            in_the_way(&facts(&[found, word])),
            ["card_3"],
            "a second one is no unknown mark"
        );
    }

    #[test]
    fn what_is_forgotten_is_not_known_and_passed_over_until_it_is_taken_over_again() {
        let gone = [adopted("SavedMethod/jane", "card_1"), forgotten("SavedMethod/jane", "card_1")];
        let one = facts(&gone);
        assert_eq!(one.observed_state(&key("SavedMethod/jane")).unwrap(), None);
        assert!(one.disowned_ids().unwrap().contains("card_1"));
        let [adopted, forgotten] = gone;
        let again = facts(&[adopted.clone(), forgotten, adopted]);
        assert!(again.disowned_ids().unwrap().is_empty());
        let known = again.observed_state(&key("SavedMethod/jane")).unwrap().unwrap();
        assert_eq!(known.text("last4"), Some("4242"));
    }
}
