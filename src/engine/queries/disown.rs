//! The objects that `init --empty-remote` would disown, and the money that they collect.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::views::MoneyView;
use crate::base::id::{Key, Mode};
use crate::base::money::Currency;
use crate::model::intents::exposure::PER_OCCURRENCE;
use crate::model::state::orphan::{Collection, UnknownObject};
use crate::store::read_model::model::{ReadModel, ReadModelError};

/// The command that disowns every unknown object at once.
const EMPTY_REMOTE: &str = "reckon init --empty-remote";

/// Every object with an unknown mark that one command would disown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DisownPreview {
    pub command: String,
    /// The objects, by id.
    pub objects: Vec<DisownedView>,
    /// Money that the service goes on collecting for them: the `ACTIVE` recurring charges, one
    /// occurrence of each.
    pub totals: Vec<MoneyView>,
    /// Number of those recurring charges.
    pub active: usize,
}

/// One object with an unknown mark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DisownedView {
    pub id: String,
    /// The list that contains it.
    pub list: String,
    pub merchant: Key,
    /// Its status at the service, if it collects money.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// The money that it collects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub money: Option<MoneyView>,
}

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

fn money(currency: Currency, mode: Mode, amount: i64) -> MoneyView {
    MoneyView { currency: currency.to_string(), mode, meaning: PER_OCCURRENCE.to_owned(), amount }
}

/// Returns the mode that a merchant was connected in; live if that is not known, the more cautious
/// assumption.
fn mode(facts: &ReadModel, merchant: &Key) -> Result<Mode, ReadModelError> {
    let known = facts.observed_state(merchant)?;
    let mode = |known: &crate::model::state::observed::Observed| {
        let fact = Some(known.fact("mode")).filter(|mode| !mode.is_null());
        let applied = || known.applied.as_ref().and_then(|applied| applied.spec.get("mode"));
        serde_json::from_value::<Mode>(fact.or_else(applied).cloned().unwrap_or(Value::Null)).ok()
    };
    Ok(known.as_ref().and_then(mode).unwrap_or(Mode::Live))
}
