//! The entries of an older fold's snapshot take the present form.
//!
//! Purpose: the records before a snapshot are not in the journal any more, so that an index cannot be made of them again.
//!
//! Guarantees: a pure function of the entries, in the order of their versions. Entries that no step names keep their
//! bytes. What an older version did not write down stays unknown; nothing is guessed.

mod from_11;
mod from_9;

use crate::store::facts::FactError;
use crate::store::index::{Batch, Entry, Index};

/// The oldest fold whose snapshots are carried on.
pub(in crate::store) const OLDEST: u32 = 9;

/// Entries that are read, and changes that are written, at once.
const PAGE: usize = 256;

/// What changes the entries of one version into those of the next one.
type Step = fn(&dyn Index) -> Result<(), FactError>;

/// The steps, each from its version. Every version without one has the form of the one before it.
const STEPS: [(u32, Step); 2] = [(9, from_9::carry), (11, from_11::carry)];

/// Gives the entries of this version of the fold, which fill the index, the present form.
pub(in crate::store) fn carry(index: &dyn Index, version: u32) -> Result<(), FactError> {
    STEPS.iter().filter(|(from, _)| *from >= version).try_for_each(|(_, step)| step(index))
}

/// Visits every entry with this prefix, page by page, and applies what the visits change.
fn each(
    index: &dyn Index,
    prefix: &[u8],
    mut visit: impl FnMut(&mut Batch, &Entry) -> Result<(), FactError>,
) -> Result<(), FactError> {
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
pub(in crate::store) mod tests;
