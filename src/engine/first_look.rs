//! Before the first creation of a process, the service's list is read: a snapshot of the whole machine that was put back
//! does not know of objects that were made since.
//!
//! A list is read once per process and merchant, by whichever creation comes first; the others wait for it. Objects with
//! marks that this state does not know stop their merchant, as after a lost state.

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

/// One list of one merchant, and whether it was read.
type Lists = BTreeMap<(Key, &'static str), Arc<OnceCell<()>>>;

/// The lists that this process has read.
#[derive(Debug, Default)]
pub(super) struct ReadLists(Mutex<Lists>);

impl ReadLists {
    fn cell(&self, merchant: &Key, list: &'static str) -> Arc<OnceCell<()>> {
        let mut lists = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lists.entry((merchant.clone(), list)).or_default().clone()
    }

    /// Notes that a list was read to its end, and what it shows written down.
    pub(super) fn was_read(&self, merchant: &Key, list: &'static str) {
        // A look that is under way comes to the same.
        drop(self.cell(merchant, list).set(()));
    }

    /// Notes that every list of a merchant was read: the survey does that.
    pub(super) fn all_were_read(&self, merchant: &Key) {
        for back in READ_BACKS {
            self.was_read(merchant, back.list_name);
        }
    }
}

/// Reads the list that shows what this effect creates, unless this process has read it. Answers how the task ends where
/// something stands in its way.
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

/// Reads a list, and writes down the objects that this state does not know.
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

/// Those of these resources that objects with marks of ours stand in the way of.
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
