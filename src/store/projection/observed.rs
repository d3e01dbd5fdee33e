//! Folds records that change the observed state of a resource: renames, missing documents, attached
//! tokens, refused credentials, and payments.
//!
//! A rename moves the observed state to the new name. The old name is used up: it stays on the
//! service as the name of the moved object. The fold refuses a rename over an existing resource, or
//! while an intent is open for either name, since that would lose something.

use crate::base::id::IntentId;
use crate::effects::core::context::put;
use crate::model::action::is_action;
use crate::model::events::event::VerifiedEvent;
use crate::model::operator::token_attachment::{ATTACHED, TokenAttachment};
use crate::model::service::remote_object::Freshness;
use crate::model::state::credentials::CredentialsRefused;
use crate::model::state::observed::{FactSource, Observed};
use crate::model::state::orphan::{
    MissingDocument, MissingDocumentChange, MissingDocumentRecord, MovedRecord,
};
use crate::model::state::payment::Payments;
use crate::store::error::FoldError;
use crate::store::index::ordered::{Batch, Index};
use crate::store::read_model::model::{
    ReadModelError, observed_key, open_key, public_key_key, read, write,
};

pub(crate) fn move_resource(
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

/// Folds an observation or a person's decision about a missing document. The first mark for pruning
/// is kept.
pub(crate) fn fold_missing_document(
    index: &dyn Index,
    batch: &mut Batch,
    record: &MissingDocumentRecord,
) -> Result<(), FoldError> {
    let MissingDocumentRecord { key, change: said } = record;
    let entry = observed_key(key);
    let known: Option<Observed> = read(index, batch, &entry)?;
    let at = said.time();
    let mut known = known.unwrap_or_else(|| Observed::unknown(key.clone(), at));
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
    Ok(write(batch, &entry, &known)?)
}

/// Attaches the token to the method.
pub(crate) fn attach_token(
    index: &dyn Index,
    batch: &mut Batch,
    attachment: &TokenAttachment,
) -> Result<(), FoldError> {
    let key = observed_key(&attachment.key);
    let known: Option<Observed> = read(index, batch, &key)?;
    let unknown = || Observed::unknown(attachment.merchant.clone(), attachment.at);
    let mut known = known.unwrap_or_else(unknown);
    put(&mut known.facts, ATTACHED, attachment.fact());
    known.refusal = None;
    known.at = known.at.max(attachment.at);
    known.source = FactSource::Operator;
    Ok(write(batch, &key, &known)?)
}

/// Applies an event to the payments of its resources, if the event shows a newer version.
pub(crate) fn apply_payment(
    index: &dyn Index,
    batch: &mut Batch,
    told: &VerifiedEvent,
) -> Result<(), ReadModelError> {
    let Some(object) = told.object.as_ref().filter(|_| told.freshness == Freshness::Newer) else {
        return Ok(());
    };
    for key in told.resources.iter().filter(|key| !is_action(key)) {
        let entry = observed_key(key);
        let Some(mut known) = read::<Observed>(index, batch, &entry)? else { continue };
        let before = known.payments.as_deref();
        let Some(now) = Payments::after_event(before, object, told.previous.as_ref(), told.at)
        else {
            continue;
        };
        known.payments = Some(Box::new(now));
        write(batch, &entry, &known)?;
    }
    Ok(())
}

/// Notes the refusal at the merchant; the credentials' next success ends it.
pub(crate) fn refuse_credentials(
    index: &dyn Index,
    batch: &mut Batch,
    refused: &CredentialsRefused,
) -> Result<(), ReadModelError> {
    let key = &refused.merchant;
    let known: Option<Observed> = read(index, batch, &observed_key(key))?;
    let mut known = known.unwrap_or_else(|| Observed::unknown(key.clone(), refused.credentials.at));
    known.unauthorised = Some(Box::new(refused.credentials.clone()));
    write(batch, &observed_key(key), &known)
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
