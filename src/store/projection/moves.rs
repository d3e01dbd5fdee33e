//! Folds renames: the observed state moves from the old name to the new one.
//!
//! The old name is used up: it stays on the service as the name of the moved object. The fold
//! refuses a rename over an existing resource, or while an intent is open for either name, since
//! that would lose something.

use super::fold::FoldError;
use crate::base::id::IntentId;
use crate::model::plans::missing_document::MovedRecord;
use crate::model::state::observed::Observed;
use crate::store::index::ordered::{Batch, Index};
use crate::store::read_model::model::{observed_key, open_key, public_key_key, read, write};

pub(crate) fn fold(
    index: &dyn Index,
    batch: &mut Batch,
    record: &MovedRecord,
) -> Result<(), FoldError> {
    let MovedRecord { from, to, at, commit: _ } = record;
    let law = |detail: String| FoldError::Law { law: 5, detail };
    for key in [from, to] {
        let open: Option<IntentId> = read(index, batch, &open_key(key))?;
        if let Some(open) = open {
            return Err(law(format!("{from} is moved to {to} while {open} is open for {key}")));
        }
    }
    let old: Option<Observed> = read(index, batch, &observed_key(from))?;
    let new: Option<Observed> = read(index, batch, &observed_key(to))?;
    let Some(mut known) = old.filter(|old| old.exists) else {
        return Err(law(format!("{from} is moved to {to}, and nothing is known of it")));
    };
    if new.is_some_and(|new| new.exists) {
        return Err(law(format!("{from} is moved to {to}, which is there itself")));
    }
    known.former.push(from.clone());
    known.missing_document = None;
    if known.merchant == *from {
        known.merchant = to.clone();
    }
    for key in known.merchant_binding().into_iter().flat_map(|bound| bound.public_keys) {
        write(batch, &public_key_key(&key), to)?;
    }
    let gone = Observed {
        moved_to: Some(Box::new(to.clone())),
        ..Observed::unknown(known.merchant.clone(), *at)
    };
    write(batch, &observed_key(to), &known)?;
    Ok(write(batch, &observed_key(from), &gone)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::id::{Key, RemoteId};
    use crate::model::record::Record;
    use crate::model::state::observed::{FactSource, Observation};
    use crate::store::index::ordered::MemoryIndex;
    use crate::store::projection::fold::fold;

    fn key(text: &str) -> Key {
        text.parse().unwrap()
    }

    fn made(name: &str, id: &str) -> Record {
        Record::Observation(Box::new(Observation {
            key: key(name),
            merchant: key("Merchant/acme"),
            at: chrono::DateTime::UNIX_EPOCH,
            source: FactSource::Answer,
            remote_id: Some(RemoteId::new(id).unwrap()),
            exists: Some(true),
            applied: None,
            facts: serde_json::json!({}),
        }))
    }

    fn moved(from: &str, to: &str) -> Record {
        let at = chrono::DateTime::UNIX_EPOCH;
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
            let known: Option<Observed> = read(&index, &batch, &observed_key(&key(name))).unwrap();
            let known = known.unwrap();
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
        let known: Option<Observed> = read(&index, &batch, &observed_key(&key(name))).unwrap();
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
}
