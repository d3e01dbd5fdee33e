//! Ownership of public keys: each belongs to the merchant that read it first.
//!
//! The fold orders the readings, so it decides which merchant was first. A merchant that reads
//! another merchant's public key gets that merchant as its `rival`, and owns none of the keys that
//! it read.

use std::collections::BTreeSet;

use crate::base::id::{Key, PublicKey};
use crate::model::state::credentials::MerchantBinding;
use crate::model::state::observed::Observed;
use crate::store::index::ordered::{Batch, Index};
use crate::store::read_model::model::{ReadModelError, public_key_key, read, write};

/// Makes the merchant own all or none of its known public keys, and releases the keys that it no
/// longer has.
pub(crate) fn assign_keys(
    index: &dyn Index,
    batch: &mut Batch,
    merchant: &Key,
    before: Option<&MerchantBinding>,
    known: &mut Observed,
) -> Result<(), ReadModelError> {
    let after = known.merchant_binding().map_or_else(BTreeSet::new, |bound| bound.public_keys);
    let before = before.into_iter().flat_map(|bound| &bound.public_keys);
    for gone in before.filter(|key| !after.contains(*key)) {
        if owner_of(index, batch, gone)?.as_ref() == Some(merchant) {
            batch.remove(public_key_key(gone));
        }
    }
    known.rival = rival(index, batch, merchant, &after)?.map(Box::new);
    if known.rival.is_none() {
        for key in &after {
            write(batch, &public_key_key(key), merchant)?;
        }
    }
    Ok(())
}

/// Returns another merchant that owns one of these public keys.
fn rival(
    index: &dyn Index,
    batch: &Batch,
    merchant: &Key,
    keys: &BTreeSet<PublicKey>,
) -> Result<Option<Key>, ReadModelError> {
    for key in keys {
        let other = owner_of(index, batch, key)?.filter(|owner| owner != merchant);
        if other.is_some() {
            return Ok(other);
        }
    }
    Ok(None)
}

/// Returns the merchant that owns a public key.
fn owner_of(
    index: &dyn Index,
    batch: &Batch,
    key: &PublicKey,
) -> Result<Option<Key>, ReadModelError> {
    read(index, batch, &public_key_key(key))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::model::record::Record;
    use crate::model::state::credentials::BINDING;
    use crate::model::state::observed::{FactSource, Observation};
    use crate::store::index::ordered::MemoryIndex;
    use crate::store::projection::fold::fold;
    use crate::store::read_model::model::observed_key;

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
            let known: Option<Observed> = super::read(&index, &batch, &observed_key(&key)).unwrap();
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
