//! Folds missing and returned documents into the observed state of their resources.

use super::fold::FoldError;
use crate::model::plans::missing_document::{
    MissingDocument, MissingDocumentChange, MissingDocumentRecord,
};
use crate::model::state::observed::Observed;
use crate::store::index::ordered::{Batch, Index};
use crate::store::read_model::model::{observed_key, read, write};

/// Folds an observation or a person's decision about a missing document. The first mark for pruning
/// is kept.
pub(crate) fn fold(
    index: &dyn Index,
    batch: &mut Batch,
    record: &MissingDocumentRecord,
) -> Result<(), FoldError> {
    let MissingDocumentRecord { key, change: said } = record;
    let entry = observed_key(key);
    let known: Option<Observed> = read(index, batch, &entry)?;
    let at = match said {
        MissingDocumentChange::Marked(marked) => marked.at,
        MissingDocumentChange::Allowed(allowed) => allowed.at,
        MissingDocumentChange::Returned { at } => *at,
    };
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
