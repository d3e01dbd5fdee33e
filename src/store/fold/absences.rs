//! Folds missing and returned documents into the observed state of their resources.

use super::FoldError;
use crate::model::absence::{Absence, AbsenceRecord, Said};
use crate::model::observed::Observed;
use crate::store::facts::{observed_key, read, write};
use crate::store::index::{Batch, Index};

/// Folds an observation or a person's decision about a missing document. The first mark for pruning
/// is kept.
pub(super) fn fold(
    index: &dyn Index,
    batch: &mut Batch,
    record: &AbsenceRecord,
) -> Result<(), FoldError> {
    let AbsenceRecord { key, said } = record;
    let entry = observed_key(key);
    let known: Option<Observed> = read(index, batch, &entry)?;
    let at = match said {
        Said::Marked(marked) => marked.at,
        Said::Allowed(allowed) => allowed.at,
        Said::Back { at } => *at,
    };
    let mut known = known.unwrap_or_else(|| Observed::unknown(key.clone(), at));
    let before = known.absence.take().map(|absence| *absence).unwrap_or_default();
    let Absence { marked, allowed } = before;
    known.absence = match said {
        Said::Marked(mark) => {
            Some(Absence { marked: marked.or_else(|| Some(mark.clone())), allowed })
        }
        Said::Allowed(word) => Some(Absence { marked, allowed: Some(word.clone()) }),
        Said::Back { at: _ } => None,
    }
    .map(Box::new);
    Ok(write(batch, &entry, &known)?)
}
