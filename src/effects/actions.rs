//! Actions that a person or a script requests: the decoding of their fields, as strict as the
//! decoding of a manifest, and the effect that an action builds.

pub mod merchant_data;
pub mod payments;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::base::id::Mode;
use crate::base::money::Money;
use crate::model::effect::{Effect, MoneyMove};

#[derive(Debug)]
pub struct ActionEffect {
    pub effect: Effect,
    pub money: Vec<MoneyMove>,
}

pub(crate) fn without_money(effect: Effect) -> ActionEffect {
    ActionEffect { effect, money: Vec::new() }
}

pub(crate) fn decode<T: DeserializeOwned>(fields: &Value) -> Result<T, String> {
    T::deserialize(fields).map_err(|error| error.to_string())
}

/// Defines an action: its fields, which deny unknown ones, and the function that builds its effect.
macro_rules! action {
    ($(#[$doc:meta])* fn $name:ident($cx:ident, $fields:ident {
        $($(#[$attribute:meta])* $field:ident: $type:ty),* $(,)?
    }) $body:block) => {
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct $fields {
            $($(#[$attribute])* $field: $type),*
        }

        $(#[$doc])*
        pub(crate) fn $name(
            $cx: $crate::effects::core::context::EffectContext,
            fields: &serde_json::Value,
        ) -> Result<$crate::effects::actions::ActionEffect, String> {
            let $fields { $($field),* } = $crate::effects::actions::decode(fields)?;
            $body
        }
    };
}
pub(crate) use action;

pub(crate) fn money_move(amount: Money, mode: Mode, meaning: &'static str) -> Vec<MoneyMove> {
    vec![MoneyMove { amount, mode, meaning }]
}

/// Type of an object that is changed or deleted by its id.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Changeable {
    Card,
    Bank,
    Recurring,
}

pub(crate) fn positive(amount: Money) -> Result<Money, String> {
    let fits = amount.minor() > 0;
    fits.then_some(amount).ok_or_else(|| format!("the amount {amount} is not more than nothing"))
}
