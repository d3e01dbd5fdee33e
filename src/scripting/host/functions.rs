//! Host functions. They perform no action: they read, calculate, or record an action request.

pub(crate) mod money;
pub(crate) mod notice;
pub(crate) mod pause;
pub(crate) mod read;
pub(crate) mod time;
pub(crate) mod tries;

use std::any::TypeId;

use rhai::{Dynamic, Engine, EvalAltResult, Map, NativeCallContext, Position};
use serde_json::{Map as Fields, Value};

use super::register::{HostFn, rows};
use crate::base::hash::canonical;
use crate::base::id::{Key, Name};
use crate::base::money::Money;
use crate::model::events::at_most::AtMost;
use crate::model::events::hook::ActionRequest;
use crate::scripting::run::json::to_json;
use crate::scripting::run::limits::VALUE_MAX;
use crate::scripting::run::session::{HostError, RunSession};
use crate::scripting::run::values::{ScriptMoment, throw};

/// A limit of a run that a host function enforces, as the language throws it.
#[derive(Debug, Clone)]
pub(crate) struct RunLimitError(String);

impl std::fmt::Display for RunLimitError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// One call of a host function, whose arguments have the right types.
pub(crate) struct HostCall<'a> {
    pub(crate) session: &'a RunSession,
    row: &'a HostFn,
    arguments: Vec<Dynamic>,
    options: Map,
}

/// Registers every host function.
pub(crate) fn register(engine: &mut Engine) {
    engine.register_type_with_name::<RunLimitError>("bound");
    engine.register_fn("to_string", |beyond: &mut RunLimitError| beyond.to_string());
    for row in rows() {
        let least = row.arguments.len();
        let most = if row.options.is_empty() { least } else { least.saturating_add(1) };
        for count in least..=most {
            let types = vec![TypeId::of::<Dynamic>(); count];
            engine.register_raw_fn(row.name, types, move |context, arguments| {
                let arguments = arguments.iter_mut().map(|argument| argument.flatten_clone());
                run_host_function(row, &context, arguments.collect())
            });
        }
    }
}

fn run_host_function(
    row: &HostFn,
    context: &NativeCallContext<'_>,
    arguments: Vec<Dynamic>,
) -> Result<Dynamic, Box<EvalAltResult>> {
    let session = context.tag().and_then(|tag| tag.clone().try_cast::<RunSession>());
    let session = session.ok_or_else(|| throw(format!("`{}` works in hooks alone", row.name)))?;
    HostCall::new(&session, row, arguments).and_then(|call| (row.call)(&call)).map_err(|refused| {
        match refused {
            HostError::Invalid(message) => throw(message),
            HostError::LimitExceeded(message) => {
                EvalAltResult::ErrorRuntime(Dynamic::from(RunLimitError(message)), Position::NONE)
                    .into()
            }
        }
    })
}

impl<'a> HostCall<'a> {
    fn new(
        session: &'a RunSession,
        row: &'a HostFn,
        mut arguments: Vec<Dynamic>,
    ) -> Result<Self, HostError> {
        let options = if arguments.len() > row.arguments.len() {
            let map = arguments.pop().and_then(Dynamic::try_cast::<Map>);
            map.ok_or_else(|| {
                format!("`{}` takes a map of options at its end: `#{{…}}`", row.name)
            })?
        } else {
            Map::new()
        };
        let options = options.into_iter().map(|(key, value)| {
            let option = row.options().find(|option| option.has_key(&key));
            (option.map_or(key, |option| option.name.into()), value)
        });
        let call = Self { session, row, arguments, options: options.collect() };
        call.check()?;
        Ok(call)
    }

    fn check(&self) -> Result<(), String> {
        let known = self.session.names();
        for (argument, value) in self.row.arguments.iter().zip(&self.arguments) {
            argument.value_type.check_value(value, known).map_err(|unfit| {
                format!(
                    "`{}` of `{}` {}; {}",
                    argument.name, self.row.name, unfit.message, unfit.help
                )
            })?;
        }
        for (key, value) in &self.options {
            let Some(option) = self.row.options().find(|option| option.name == key.as_str()) else {
                return Err(format!("`{}` has no option `{key}`", self.row.name));
            };
            option.value_type.check_value(value, known).map_err(|unfit| {
                format!(
                    "the option `{key}` of `{}` {}; {}",
                    self.row.name, unfit.message, unfit.help
                )
            })?;
        }
        Ok(())
    }

    /// Returns an argument, or `()` if it is missing.
    pub(crate) fn argument(&self, index: usize) -> Dynamic {
        self.arguments.get(index).cloned().unwrap_or(Dynamic::UNIT)
    }

    /// Returns an argument as text, also for money and moments.
    pub(crate) fn text(&self, index: usize) -> String {
        text_of(&self.argument(index))
    }

    /// Returns an argument as a whole number.
    pub(crate) fn integer(&self, index: usize) -> i64 {
        self.argument(index).as_int().unwrap_or_default()
    }

    /// Returns an argument as a moment.
    pub(crate) fn moment(&self, index: usize) -> Result<ScriptMoment, String> {
        parse_moment(&self.argument(index))
    }

    /// Returns an option.
    pub(crate) fn option(&self, name: &str) -> Option<Dynamic> {
        self.options.get(name).cloned()
    }

    /// Returns an option as text.
    pub(crate) fn option_text(&self, name: &str) -> Option<String> {
        self.option(name).map(|value| text_of(&value))
    }

    /// Returns a boolean option; `false` if it is missing.
    pub(crate) fn option_flag(&self, name: &str) -> bool {
        self.option(name).and_then(|value| value.as_bool().ok()).unwrap_or_default()
    }

    /// Returns the merchant of the call.
    ///
    /// # Errors
    ///
    /// The event has no merchant, and the call names none.
    pub(crate) fn merchant(&self) -> Result<Key, String> {
        let named = self.option_text("merchant").map(|name| format!("Merchant/{name}"));
        if let Some(named) = named {
            return named.parse().map_err(|error: crate::base::id::KeyError| error.to_string());
        }
        self.session.merchant().cloned().ok_or_else(|| {
            format!("this event has no merchant: `{}` needs the option `merchant`", self.row.name)
        })
    }

    /// Requests an action and returns its name.
    pub(crate) fn request(
        &self,
        verb: &str,
        merchant: Option<Key>,
        fields: Value,
    ) -> Result<Dynamic, HostError> {
        self.request_at_most(verb, merchant, fields, None)
    }

    /// Requests an action, with an upper bound on the frequency of a notification.
    pub(crate) fn request_at_most(
        &self,
        verb: &str,
        merchant: Option<Key>,
        fields: Value,
        at_most: Option<AtMost>,
    ) -> Result<Dynamic, HostError> {
        if let Some(power) = self.row.right {
            self.session.require_right(power, merchant.as_ref())?;
        }
        let at = self.option("at").map(|value| parse_moment(&value)).transpose()?;
        let at = at.map(|ScriptMoment(at)| at);
        if canonical(&fields).len() > VALUE_MAX {
            return Err(HostError::LimitExceeded(format!(
                "an action has {VALUE_MAX} bytes at most"
            )));
        }
        let name = match self.option_text("name") {
            Some(name) => name.parse(),
            None => ActionRequest::content_name(verb, merchant.as_ref(), &fields, at),
        };
        let name: Name = name.map_err(|error| error.to_string())?;
        let verb = verb.to_owned();
        let wish = ActionRequest { name, verb, merchant, fields, at, at_most, content: None };
        let name = self.session.request_action(wish.with_content_digest())?;
        Ok(Dynamic::from(name.to_string()))
    }
}

fn parse_moment(value: &Dynamic) -> Result<ScriptMoment, String> {
    match value.clone().try_cast::<ScriptMoment>() {
        Some(moment) => Ok(moment),
        None => ScriptMoment::parse(&value.to_string()),
    }
}

/// Formats a value as text: money and moments in their own form, lists and maps as JSON.
fn text_of(value: &Dynamic) -> String {
    match to_json(value) {
        Ok(Value::String(text)) => text,
        Ok(other) if value.is_array() || value.is_map() => other.to_string(),
        Ok(_) | Err(_) => value.to_string(),
    }
}

/// Converts a value or its text to money.
pub(crate) fn parse_money(value: &Dynamic) -> Result<Money, String> {
    match value.clone().try_cast::<Money>() {
        Some(money) => Ok(money),
        None => value
            .to_string()
            .parse()
            .map_err(|error: crate::base::money::MoneyError| error.to_string()),
    }
}

/// Returns the amount of a record of the service.
pub(crate) fn record_amount(record: &Map) -> Result<Money, String> {
    let minor = record.get("amount").and_then(|value| value.as_int().ok());
    let minor = minor.ok_or("the record has no `amount`")?;
    let currency = record_currency(record)
        .ok_or("the record has no `currency`, so its worth is unknown: give money")?;
    let currency =
        currency.parse().map_err(|error: crate::base::money::MoneyError| error.to_string())?;
    Ok(Money::new(minor, currency))
}

/// Returns the currency of a record, or that of its newest transaction.
fn record_currency(record: &Map) -> Option<String> {
    if let Some(currency) = record.get("currency") {
        return Some(currency.to_string());
    }
    let transactions = record.get("transactions")?.as_array_ref().ok()?;
    let last = transactions.last()?.as_map_ref().ok()?;
    last.get("currency").map(ToString::to_string)
}

/// Returns the id of an object: the value itself, or the id of a map.
pub(crate) fn object_id(value: &Dynamic) -> Result<String, String> {
    let Ok(map) = value.as_map_ref() else { return Ok(value.to_string()) };
    let id = ["remote_id", "id"].into_iter().find_map(|name| map.get(name));
    let id = id.filter(|id| id.is_string()).map(ToString::to_string);
    id.filter(|id| !id.is_empty())
        .ok_or_else(|| "the map has neither `id` nor `remote_id`".to_owned())
}

/// Returns the fields of an action without those that are `None`.
pub(crate) fn fields<const N: usize>(pairs: [(&str, Option<Value>); N]) -> Value {
    let pairs = pairs.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(pairs.collect::<Fields<_, _>>())
}

/// Converts an argument to JSON.
pub(crate) fn dynamic_to_json(value: &Dynamic) -> Result<Value, String> {
    to_json(value)
}
