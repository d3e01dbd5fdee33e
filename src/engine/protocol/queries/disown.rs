//! The objects that `init --empty-remote` would disown, and the money that they collect.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::views::MoneyView;
use crate::base::id::{Key, Mode};
use crate::base::money::Currency;
use crate::model::intents::exposure::PER_OCCURRENCE;
use crate::store::read_model::model::{ReadModel, ReadModelError};

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

pub(crate) fn money(currency: Currency, mode: Mode, amount: i64) -> MoneyView {
    MoneyView { currency: currency.to_string(), mode, meaning: PER_OCCURRENCE.to_owned(), amount }
}

/// Returns the mode that a merchant was connected in; live if that is not known, the more cautious
/// assumption.
pub(crate) fn mode(facts: &ReadModel, merchant: &Key) -> Result<Mode, ReadModelError> {
    let known = facts.observed_state(merchant)?;
    let mode = |known: &crate::model::state::observed::Observed| {
        let fact = Some(known.fact("mode")).filter(|mode| !mode.is_null());
        let applied = || known.applied.as_ref().and_then(|applied| applied.spec.get("mode"));
        serde_json::from_value::<Mode>(fact.or_else(applied).cloned().unwrap_or(Value::Null)).ok()
    };
    Ok(known.as_ref().and_then(mode).unwrap_or(Mode::Live))
}
