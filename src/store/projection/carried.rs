//! Converts the entries of an older fold's snapshot to the present form.
//!
//! Purpose: the records before a snapshot are no longer in the journal, so the index cannot be
//! rebuilt from them.
//!
//! Guarantees: a pure function of the entries, applied in the order of the versions. Entries that
//! no step names keep their bytes. Facts that an older version did not record stay unknown; nothing
//! is guessed.

mod from_11;
mod from_9;

use crate::store::index::ordered::{Batch, Index, KeyValue};
use crate::store::read_model::model::ReadModelError;

/// The oldest fold whose snapshots can be converted.
pub(in crate::store) const OLDEST: u32 = 9;

/// Entries read at once, and changes written at once.
const PAGE: usize = 256;

/// Converts the entries of one version to those of the next one.
type Conversion = fn(&dyn Index) -> Result<(), ReadModelError>;

/// The steps, each with the version that it converts. A version without a step has the form of the
/// version before.
const STEPS: [(u32, Conversion); 2] = [(9, from_9::convert), (11, from_11::convert)];

/// Converts the entries of the given version, which fill the index, to the present form.
pub(in crate::store) fn convert(index: &dyn Index, version: u32) -> Result<(), ReadModelError> {
    STEPS.iter().filter(|(from, _)| *from >= version).try_for_each(|(_, step)| step(index))
}

/// Visits every entry with this prefix, page by page, and applies the changes of the visits.
fn each(
    index: &dyn Index,
    prefix: &[u8],
    mut visit: impl FnMut(&mut Batch, &KeyValue) -> Result<(), ReadModelError>,
) -> Result<(), ReadModelError> {
    let mut after: Option<Vec<u8>> = None;
    loop {
        let page = index.scan_from(prefix, after.as_deref(), PAGE)?;
        let mut batch = Batch::new();
        for entry in &page {
            visit(&mut batch, entry)?;
        }
        index.apply(batch)?;
        match page.into_iter().last() {
            Some((last, _)) => after = Some(last),
            None => return Ok(()),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
