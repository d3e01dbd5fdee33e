//! Folds records that change the observed state of a resource: renames, missing documents, attached
//! tokens, refused credentials, payments, the ownership of public keys, adoption and forgetting, and
//! objects with unknown marks of ours.
//!
//! A resource that an object with an unknown mark of ours blocks continues once a person has assigned
//! or disowned the object.
//!
//! A rename moves the observed state to the new name. The old name is used up: it stays on the
//! service as the name of the moved object. The fold refuses a rename over an existing resource, or
//! while an intent is open for either name, since that would lose something.
//!
//! A public key belongs to the merchant that read it first. The fold orders the readings, so it
//! decides which merchant was first. A merchant that reads another merchant's public key gets that
//! merchant as its `rival`, and owns none of the keys that it read.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use crate::base::id::{Key, PublicKey, RemoteId};
use crate::effects::core::context::set_field;
use crate::model::effect::is_action;
use crate::model::events::event::VerifiedEvent;
use crate::model::remote_object::Freshness;
use crate::model::state::credentials::{CredentialsRefused, MerchantBinding};
use crate::model::state::drift::{Adoption, Disowned, Forgotten};
use crate::model::state::health::Payments;
use crate::model::state::observed::{FactSource, Observed};
use crate::model::state::orphan::{
    MissingDocument, MissingDocumentChange, MissingDocumentRecord, MovedRecord, UnknownObjectsFound,
};
use crate::model::state::token_attachment::{ATTACHED, TokenAttachment};
use crate::store::error::{FoldError, Folded};
use crate::store::read_model::model::{Changes, Entries};
use crate::store::read_model::resources::{
    DISOWNED, MARKS, OBSERVED, OPEN_BY_KEY, PUBLIC_KEYS, SUSPENDED, UNKNOWN_OBJECTS,
};

/// Changes the observed state of a resource; an unknown one belongs to this merchant.
pub(crate) fn change_observed(
    changes: &mut Changes<'_>,
    key: &Key,
    (merchant, at): (&Key, DateTime<Utc>),
    change: impl FnOnce(&mut Observed),
) -> Folded {
    let known = OBSERVED.get(changes, key)?;
    let mut known = known.unwrap_or_else(|| Observed::unknown(merchant.clone(), at));
    change(&mut known);
    Ok(OBSERVED.put(changes, key, &known)?)
}

pub(crate) fn move_resource(changes: &mut Changes<'_>, record: &MovedRecord) -> Folded {
    let MovedRecord { from, to, at, commit: _ } = record;
    for key in [from, to] {
        if let Some(open) = OPEN_BY_KEY.get(changes, key)? {
            return FoldError::law(
                5,
                format!("{from} is moved to {to} while {open} is open for {key}"),
            );
        }
    }
    let new = OBSERVED.get(changes, to)?;
    let Some(mut known) = OBSERVED.get(changes, from)?.filter(|old| old.exists) else {
        return FoldError::law(5, format!("{from} is moved to {to}, and nothing is known of it"));
    };
    if new.is_some_and(|new| new.exists) {
        return FoldError::law(5, format!("{from} is moved to {to}, which is there itself"));
    }
    known.former.push(from.clone());
    known.missing_document = None;
    if known.merchant == *from {
        known.merchant = to.clone();
    }
    for key in known.merchant_binding().into_iter().flat_map(|bound| bound.public_keys) {
        PUBLIC_KEYS.put(changes, key.as_str(), to)?;
    }
    let gone = Observed {
        moved_to: Some(Box::new(to.clone())),
        ..Observed::unknown(known.merchant.clone(), *at)
    };
    OBSERVED.put(changes, to, &known)?;
    Ok(OBSERVED.put(changes, from, &gone)?)
}

/// Folds an observation or a person's decision about a missing document. The first mark for pruning
/// is kept.
pub(crate) fn fold_missing_document(
    changes: &mut Changes<'_>,
    record: &MissingDocumentRecord,
) -> Folded {
    let MissingDocumentRecord { key, change: said } = record;
    change_observed(changes, key, (key, said.time()), |known| {
        let before = known.missing_document.take().map(|absence| *absence).unwrap_or_default();
        let MissingDocument { marked, allowed } = before;
        known.missing_document = match said {
            MissingDocumentChange::Marked(mark) => {
                Some(MissingDocument { marked: marked.or_else(|| Some(mark.clone())), allowed })
            }
            MissingDocumentChange::Allowed(word) => {
                Some(MissingDocument { marked, allowed: Some(word.clone()) })
            }
            MissingDocumentChange::Returned { at: _ } => None,
        }
        .map(Box::new);
    })
}

pub(crate) fn attach_token(changes: &mut Changes<'_>, attachment: &TokenAttachment) -> Folded {
    let TokenAttachment { key, merchant, at, .. } = attachment;
    change_observed(changes, key, (merchant, *at), |known| {
        set_field(&mut known.facts, ATTACHED, attachment.fact());
        known.refusal = None;
        known.at = known.at.max(*at);
        known.source = FactSource::Operator;
    })
}

/// Applies an event to the payments of its resources, if the event shows a newer version.
pub(crate) fn apply_payment(changes: &mut Changes<'_>, told: &VerifiedEvent) -> Folded {
    let Some(object) = told.object.as_ref().filter(|_| told.freshness == Freshness::Newer) else {
        return Ok(());
    };
    for key in told.resources.iter().filter(|key| !is_action(key)) {
        let Some(mut known) = OBSERVED.get(changes, key)? else { continue };
        let before = known.payments.as_deref();
        let Some(now) = Payments::after_event(before, object, told.previous.as_ref(), told.at)
        else {
            continue;
        };
        known.payments = Some(Box::new(now));
        OBSERVED.put(changes, key, &known)?;
    }
    Ok(())
}

/// Notes the refusal at the merchant; the credentials' next success ends it.
pub(crate) fn refuse_credentials(
    changes: &mut Changes<'_>,
    refused: &CredentialsRefused,
) -> Folded {
    let (key, refusal) = (&refused.merchant, &refused.credentials);
    change_observed(changes, key, (key, refusal.at), |known| {
        known.unauthorised = Some(Box::new(refusal.clone()));
    })
}

/// Makes the merchant own all or none of its known public keys, and releases the keys that it no
/// longer has.
pub(crate) fn assign_keys(
    changes: &mut Changes<'_>,
    merchant: &Key,
    before: Option<&MerchantBinding>,
    known: &mut Observed,
) -> Folded {
    let after = known.merchant_binding().map_or_else(BTreeSet::new, |bound| bound.public_keys);
    let before = before.into_iter().flat_map(|bound| &bound.public_keys);
    for gone in before.filter(|key| !after.contains(*key)) {
        if PUBLIC_KEYS.get(changes, gone.as_str())?.as_ref() == Some(merchant) {
            PUBLIC_KEYS.remove(changes, gone.as_str());
        }
    }
    known.rival = rival(changes, merchant, &after)?.map(Box::new);
    if known.rival.is_none() {
        for key in &after {
            PUBLIC_KEYS.put(changes, key.as_str(), merchant)?;
        }
    }
    Ok(())
}

/// Returns another merchant that owns one of these public keys.
fn rival(
    entries: &impl Entries,
    merchant: &Key,
    keys: &BTreeSet<PublicKey>,
) -> Folded<Option<Key>> {
    for key in keys {
        let other = PUBLIC_KEYS.get(entries, key.as_str())?.filter(|owner| owner != merchant);
        if other.is_some() {
            return Ok(other);
        }
    }
    Ok(None)
}

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
    use serde_json::{Value, json};

    use super::*;
    use crate::base::id::{Key, RemoteId};
    use crate::model::record::Record;
    use crate::model::state::credentials::BINDING;
    use crate::model::state::observed::{FactSource, Observation};
    use crate::store::index::ordered::{Batch, MemoryIndex};
    use crate::store::projection::fold::fold;

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
            let known = OBSERVED
                .get(&Changes::new(&index, &mut batch.clone()), &key(name))
                .unwrap()
                .unwrap();
            let id = known.remote_id.as_ref().map(ToString::to_string).unwrap_or_default();
            let origin = known.first_name().map(Key::short).unwrap_or_default();
            format!("{id} {origin} {}", known.moved_to.map(|to| to.short()).unwrap_or_default())
        };
        Ok(names.iter().map(text).collect())
    }

    #[test]
    fn a_chain_of_moves_keeps_the_first_name() {
        let records = [
            made("Contact/a", "1"),
            moved("Contact/a", "Contact/b"),
            moved("Contact/b", "Contact/c"),
        ];
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
        let over =
            [made("Contact/a", "1"), made("Contact/b", "2"), moved("Contact/a", "Contact/b")];
        assert!(check(&over, &[]).unwrap_err().contains("there itself"));
        assert!(
            check(&[moved("Contact/a", "Contact/b")], &[])
                .unwrap_err()
                .contains("nothing is known")
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
}

#[cfg(test)]
mod adoption_tests {
    use std::sync::Arc;

    use serde_json::json;

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
