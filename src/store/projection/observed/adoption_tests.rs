use std::sync::Arc;

use serde_json::json;

use super::*;
use crate::base::hash::Mark;
use crate::model::record::Record;
use crate::model::state::observed::{FactSource, Observation};
use crate::model::state::orphan::UnknownObject;
use crate::store::index::ordered::{Batch, Index as _, MemoryIndex};
use crate::store::read_model::model::ReadModel;
use crate::store::tests::support::fold;

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
    assert_eq!(in_the_way(&facts(&[found, word])), ["card_3"], "a second one is no unknown mark");
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
