//! Reads the service's list before the first creation of a process: after a snapshot of the whole
//! machine was restored, the state does not know of objects created since.
//!
//! A list is read once per process and merchant, by the first creation; other creations wait for
//! it. Objects with marks that this state does not know stop their merchant, as after a lost state.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OnceCell;

use super::access::Wallet;
use super::read::{self, Unread};
use super::shared::{EngineError, Shared};
use super::sweep;
use super::tasks::{Finished, Job};
use crate::base::id::Key;
use crate::effects::{Answer, Earlier, EffectRow, Query, earlier};
use crate::kinds::readback::ReadBack;
use crate::kinds::register::{self, READ_BACKS};
use crate::model::record::Record;

/// Lists by merchant and list name; the cell is set once the list was read.
type Lists = BTreeMap<(Key, &'static str), Arc<OnceCell<()>>>;

/// The lists that this process has read.
#[derive(Debug, Default)]
pub(super) struct ReadLists(Mutex<Lists>);

impl ReadLists {
    fn cell(&self, merchant: &Key, list: &'static str) -> Arc<OnceCell<()>> {
        let mut lists = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lists.entry((merchant.clone(), list)).or_default().clone()
    }

    /// Notes that a list was read to its end, and that its unknown objects are recorded.
    pub(super) fn was_read(&self, merchant: &Key, list: &'static str) {
        // A read that is under way leads to the same cell.
        drop(self.cell(merchant, list).set(()));
    }

    /// Notes that every list of a merchant was read: the survey does that.
    pub(super) fn all_were_read(&self, merchant: &Key) {
        for back in READ_BACKS {
            self.was_read(merchant, back.list_name);
        }
    }
}

/// Reads the list that contains objects of this effect's sort, unless this process has read it.
/// Returns the result of the task if something blocks the effect.
pub(super) async fn before(
    shared: &Shared,
    row: &EffectRow,
    job: &Job,
) -> Result<Option<Finished>, Unread> {
    let effect = &job.effect;
    let back = register::find(effect.key.kind.as_str())
        .and_then(|kind| (kind.read_back)(&effect.applied.spec))
        .filter(|_| shared.settings.first_look && earlier(row, effect) == Earlier::Findable);
    let Some(back) = back else { return Ok(None) };
    let cell = shared.lists().cell(&effect.merchant, back.list_name);
    let wallet = Wallet { account: None, ..job.wallet.clone() };
    cell.get_or_try_init(|| look(shared, &effect.merchant, back, &wallet)).await?;
    let touched = barred(shared, [&effect.key, &effect.merchant])?;
    Ok((!touched.is_empty()).then(|| Finished::Barred(effect.key.clone(), touched)))
}

/// Reads a list, and records the objects that this state does not know.
async fn look(
    shared: &Shared,
    merchant: &Key,
    back: &'static ReadBack,
    wallet: &Wallet,
) -> Result<(), Unread> {
    let at = shared.now();
    let answers = read::answers(shared, &[Query::list((back.list)())], wallet).await?;
    let Some(Answer::Items(items)) = answers.into_iter().next() else { return Ok(()) };
    let found = sweep::unknown(shared, merchant, (back, at), &items)?;
    let records: Vec<Record> =
        found.into_iter().map(|found| Record::Strays(Box::new(found))).collect();
    if !records.is_empty() {
        shared.write(Vec::new(), records).await?;
    }
    Ok(())
}

/// Returns those of these resources that unknown objects with marks of ours block.
fn barred(shared: &Shared, keys: [&Key; 2]) -> Result<BTreeSet<Key>, EngineError> {
    let mut barred = BTreeSet::new();
    for key in keys {
        let known = shared.facts.observed(key)?;
        if known.is_some_and(|known| !known.strays.is_empty()) {
            barred.insert(key.clone());
        }
    }
    Ok(barred)
}
