use serde_json::{Value, json};

use super::*;
use crate::base::id::{Key, RemoteId};
use crate::model::record::Record;
use crate::model::state::credentials::BINDING;
use crate::model::state::observed::{FactSource, Observation};
use crate::store::index::ordered::{Batch, MemoryIndex};
use crate::store::tests::support::fold;

fn key(text: &str) -> Key {
    text.parse().unwrap()
}

fn made(name: &str, id: &str) -> Record {
    Record::Observation(Box::new(Observation {
        key: key(name),
        merchant: key("Merchant/acme"),
        at: DateTime::UNIX_EPOCH,
        source: FactSource::Answer,
        remote_id: Some(RemoteId::new(id).unwrap()),
        exists: Some(true),
        applied: None,
        facts: serde_json::json!({}),
    }))
}

fn moved(from: &str, to: &str) -> Record {
    let at = DateTime::UNIX_EPOCH;
    let (from, to) = (key(from), key(to));
    Record::Moved(Box::new(MovedRecord { from, to, at, commit: None }))
}

/// Returns for each name its id, its first name, and the name that it moved to.
fn check(records: &[Record], names: &[&str]) -> Result<Vec<String>, String> {
    let (index, mut batch) = (MemoryIndex::new(), Batch::new());
    for record in records {
        fold(&index, &mut batch, record).map_err(|error| error.to_string())?;
    }
    let text = |name: &&str| {
        let known =
            OBSERVED.get(&Changes::new(&index, &mut batch.clone()), &key(name)).unwrap().unwrap();
        let id = known.remote_id.as_ref().map(ToString::to_string).unwrap_or_default();
        let origin = known.first_name().map(Key::short).unwrap_or_default();
        format!("{id} {origin} {}", known.moved_to.map(|to| to.short()).unwrap_or_default())
    };
    Ok(names.iter().map(text).collect())
}

#[test]
fn a_chain_of_moves_keeps_the_first_name() {
    let records =
        [made("Contact/a", "1"), moved("Contact/a", "Contact/b"), moved("Contact/b", "Contact/c")];
    let told = check(&records, &["Contact/a", "Contact/b", "Contact/c"]).unwrap();
    assert_eq!(told, ["  Contact/b", "  Contact/c", "1 Contact/a "]);
}

/// Returns the merchant of a name after the records.
fn merchant_of(records: &[Record], name: &str) -> String {
    let (index, mut batch) = (MemoryIndex::new(), Batch::new());
    for record in records {
        fold(&index, &mut batch, record).unwrap();
    }
    let known = OBSERVED.get(&Changes::new(&index, &mut batch), &key(name)).unwrap();
    known.unwrap().merchant.short()
}

#[test]
fn a_merchant_stays_its_own_under_a_new_name_and_a_contact_its_merchant_s() {
    let merchant = [made("Merchant/acme", "m_1"), moved("Merchant/acme", "Merchant/best")];
    assert_eq!(merchant_of(&merchant, "Merchant/best"), "Merchant/best");
    let contact = [made("Contact/a", "1"), moved("Contact/a", "Contact/b")];
    assert_eq!(merchant_of(&contact, "Contact/b"), "Merchant/acme");
}

#[test]
fn a_move_over_something_or_of_nothing_is_refused() {
    let over = [made("Contact/a", "1"), made("Contact/b", "2"), moved("Contact/a", "Contact/b")];
    assert!(check(&over, &[]).unwrap_err().contains("there itself"));
    assert!(
        check(&[moved("Contact/a", "Contact/b")], &[]).unwrap_err().contains("nothing is known")
    );
}

/// Folds the readings of merchants in order; returns the rival of each after its reading.
fn rivals(read: &[(&str, Value)]) -> Vec<Option<String>> {
    let (index, mut batch) = (MemoryIndex::new(), Batch::new());
    let mut rivals = Vec::new();
    for (name, facts) in read {
        let key: Key = format!("Merchant/{name}").parse().unwrap();
        let fact = Observation {
            key: key.clone(),
            merchant: key.clone(),
            at: "2026-11-21T12:00:00Z".parse().unwrap(),
            source: FactSource::Read,
            remote_id: None,
            exists: Some(true),
            applied: None,
            facts: facts.clone(),
        };
        fold(&index, &mut batch, &Record::Observation(Box::new(fact))).unwrap();
        let known = OBSERVED.get(&Changes::new(&index, &mut batch), &key).unwrap();
        rivals.push(known.unwrap().rival.map(|key| key.short()));
    }
    rivals
}

fn bound(generation: u32, keys: &[&str]) -> Value {
    json!({BINDING: {"generation": generation, "mode": "test", "name": null, "public_keys": keys}})
}

#[test]
fn a_public_key_belongs_to_the_merchant_that_read_it_first() {
    let told = rivals(&[
        ("a", bound(0, &["m_1", "m_2"])),
        ("b", bound(0, &["m_2", "m_3"])),
        ("a", bound(0, &["m_1", "m_2"])),
        ("c", bound(0, &["m_3"])),
    ]);
    let a = Some("Merchant/a".to_owned());
    assert_eq!(told, [None, a, None, None], "b bound nothing, so m_3 was free");
}

#[test]
fn what_a_merchant_leaves_is_free_and_what_it_takes_is_its_own() {
    let told = rivals(&[
        ("a", bound(0, &["m_1"])),
        ("b", bound(0, &["m_1"])),
        ("a", bound(1, &["m_2"])),
        ("b", bound(1, &["m_1"])),
        ("c", bound(0, &["m_2"])),
    ]);
    let a = Some("Merchant/a".to_owned());
    assert_eq!(told, [None, a.clone(), None, None, a]);
}

#[test]
fn a_merchant_of_an_older_state_keeps_its_one_public_key() {
    let old = json!({"public_key": "m_1", "mode": "live"});
    let told = rivals(&[("a", old), ("b", bound(0, &["m_1"])), ("a", bound(0, &["m_1"]))]);
    assert_eq!(told, [None, Some("Merchant/a".to_owned()), None]);
}
