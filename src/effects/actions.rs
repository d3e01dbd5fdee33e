//! Actions that a person or a script requests. Each is declared once: its fields, the arguments of
//! its command, and the effect that it builds. The decoding of its fields is as strict as the decoding
//! of a manifest.

pub mod merchant_data;
pub mod payments;

use clap::{ArgMatches, Args, Command, ValueEnum};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::id::Mode;
use crate::base::money::Money;
use crate::effects::core::context::EffectContext;
use crate::effects::merchants::settings::RemoteSetting;
use crate::model::effect::{Effect, MoneyMove};

/// One action. `reckon gateway VERB` and scripts take its fields from this row.
#[derive(Debug)]
pub struct ActionRow {
    /// Name of the action in requests, and of its command.
    pub verb: &'static str,
    /// Names of the fields, in the order in which the journal stores them.
    pub fields: &'static [&'static str],
    /// Adds the fields to a command, as its arguments.
    pub add_arguments: fn(Command) -> Command,
    /// Returns the fields from the arguments of a command.
    pub read_arguments: fn(&ArgMatches) -> Result<Value, clap::Error>,
    /// Field that the command reads on its own machine.
    pub input: Option<FieldInput>,
    /// Builds the effect, or returns the problems of the fields for the author of the request.
    pub make: fn(EffectContext, &Value) -> Result<ActionEffect, String>,
    /// Fields that are sealed and never stored in plain text.
    pub secret: &'static [&'static str],
}

impl ActionRow {
    /// Row of an action whose command has the arguments of `T`; none of its fields is secret.
    pub(crate) const fn new<T: Args + Serialize>(
        verb: &'static str,
        fields: &'static [&'static str],
        make: fn(EffectContext, &Value) -> Result<ActionEffect, String>,
    ) -> Self {
        let read_arguments = |matches: &ArgMatches| Ok(json!(T::from_arg_matches(matches)?));
        let add_arguments = T::augment_args;
        Self { verb, fields, add_arguments, read_arguments, input: None, make, secret: &[] }
    }

    /// Reads the arguments of the command in another way.
    pub(crate) const fn with_reader(
        self,
        read_arguments: fn(&ArgMatches) -> Result<Value, clap::Error>,
    ) -> Self {
        Self { read_arguments, ..self }
    }

    pub(crate) const fn with_secret(self, secret: &'static [&'static str]) -> Self {
        Self { secret, ..self }
    }

    pub(crate) const fn with_input(self, input: FieldInput) -> Self {
        Self { input: Some(input), ..self }
    }
}

/// A field that a command reads on its own machine. The fields of its arguments hold an empty value
/// in its place, which keeps their order.
#[derive(Debug, Clone, Copy)]
pub struct FieldInput {
    pub field: &'static str,
    pub form: InputForm,
    /// Help text of the argument.
    pub help: &'static str,
}

/// The source from which a command reads a field.
#[derive(Debug, Clone, Copy)]
pub enum InputForm {
    /// `--set NAME=VALUE`, which may be repeated. The other fields decide on the names.
    Settings(fn(&Value) -> &'static [RemoteSetting]),
    /// The content of a file, in base64. Its name is the default of the field `file_name`.
    File,
    /// The strokes of a signature, from a file or standard input.
    Strokes,
    /// A one-time token, as an argument or on standard input.
    Token,
}

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

/// Declares an action: its row, its fields with their arguments, and the function that builds its
/// effect. Unknown fields are an error. The comments of the action and its fields are help texts.
/// `field as "name"` gives a field another name in requests.
macro_rules! action {
    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident $wire:literal) => { $wire };
    ($(#[$doc:meta])* $row:ident: $verb:literal $(.$with:ident($value:expr))*, fn $name:ident($cx:ident, $fields:ident {
        $($(#[$attribute:meta])* $field:ident $(as $wire:literal)?: $type:ty),* $(,)?
    }) $body:block) => {
        $(#[$doc])*
        #[derive(clap::Args, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct $fields {
            $($(#[$attribute])* $(#[serde(rename = $wire)])? $field: $type),*
        }

        pub(crate) const $row: $crate::effects::actions::ActionRow =
            $crate::effects::actions::ActionRow::new::<$fields>(
                $verb,
                &[$($crate::effects::actions::action!(@name $field $($wire)?)),*],
                $name,
            )$(.$with($value))*;

        fn $name(
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
#[derive(Clone, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Changeable {
    /// A saved card.
    Card,
    /// A saved bank.
    Bank,
    /// A recurring charge, with its uncollected occurrences.
    Recurring,
}

pub(crate) fn positive(amount: Money) -> Result<Money, String> {
    let fits = amount.minor() > 0;
    fits.then_some(amount).ok_or_else(|| format!("the amount {amount} is not more than nothing"))
}
