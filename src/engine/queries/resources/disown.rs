//! The objects that `init --empty-remote` would disown, and the money that they collect.

use std::collections::BTreeMap;

use crate::base::id::{Key, Mode};
use crate::base::money::Currency;
use crate::engine::protocol::queries::disown::{DisownPreview, DisownedView, mode, money};
use crate::model::state::orphan::{Collection, UnknownObject};
use crate::store::read_model::model::{ReadModel, ReadModelError};

/// The command that disowns every unknown object at once.
const EMPTY_REMOTE: &str = "reckon init --empty-remote";

/// Lists the objects with unknown marks that a state has found so far.
///
/// # Errors
/// The index cannot be read.
pub fn disown_preview(facts: &ReadModel) -> Result<DisownPreview, ReadModelError> {
    let mut all = DisownPreview { command: EMPTY_REMOTE.to_owned(), ..DisownPreview::default() };
    let mut sums: BTreeMap<(Currency, Mode), i64> = BTreeMap::new();
    for (id, holder) in facts.unknown_objects()? {
        let Some(known) = facts.observed_state(&holder)? else { continue };
        let found = known
            .unknown_objects
            .iter()
            .find(|stray| stray.id.as_str() == id && !stray.is_duplicate);
        let Some(stray) = found else { continue };
        let mode = mode(facts, &known.merchant)?;
        if let Some(active) = stray.collection.as_ref().filter(|collects| collects.is_active()) {
            all.active = all.active.saturating_add(1);
            let sum = sums.entry((active.amount.currency(), mode)).or_default();
            *sum = sum.saturating_add(active.amount.minor());
        }
        all.objects.push(view(stray, known.merchant.clone(), mode));
    }
    all.totals =
        sums.into_iter().map(|((currency, mode), sum)| money(currency, mode, sum)).collect();
    Ok(all)
}

fn view(stray: &UnknownObject, merchant: Key, mode: Mode) -> DisownedView {
    let collected =
        |Collection { amount, .. }: &Collection| money(amount.currency(), mode, amount.minor());
    DisownedView {
        id: stray.id.to_string(),
        list: stray.list.clone(),
        merchant,
        status: stray.collection.as_ref().map(|collects| collects.status.clone()),
        money: stray.collection.as_ref().map(collected),
    }
}
