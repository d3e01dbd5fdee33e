//! Host functions and their calls. A function performs no action: it reads, calculates, or records
//! an action request.
//!
//! A [`HostFn`] holds everything about a function. The checker reads its arity, types and options,
//! the documentation reads its sentence, and the engine calls its `call`.

use std::ops::RangeInclusive;

use rhai::{Dynamic, Map};
use serde_json::{Map as Fields, Value};

use super::argument_type::ArgumentType;
use super::session::{HostError, RunSession};
use crate::base::hash::canonical;
use crate::base::id::{Key, Name};
use crate::base::money::Money;
use crate::model::events::hook::{ActionRequest, AtMost};
use crate::policy::ScriptPower;
use crate::scripting::language::json::to_json;
use crate::scripting::language::limits::VALUE_MAX;
use crate::scripting::language::values::{ScriptMoment, parse};

pub(crate) type CallResult = Result<Dynamic, HostError>;

/// Part of the documentation that lists a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FunctionGroup {
    Action,
    Read,
    Helper,
}

#[derive(Debug, Clone, Copy)]
pub struct Argument {
    pub name: &'static str,
    pub value_type: ArgumentType,
}

/// One entry of the map of options.
#[derive(Clone, Copy, derive_more::Debug)]
pub struct HostOption {
    pub name: &'static str,
    pub value_type: ArgumentType,
    /// Meaning of the option.
    pub doc: &'static str,
    /// Former key, which still works.
    pub former_name: Option<&'static str>,
    /// Returns the value of the field if the call lacks the option.
    #[debug(skip)]
    pub(super) default: Option<FieldDefault>,
}

type FieldDefault = fn(&HostCall<'_>) -> Result<Value, String>;

impl HostOption {
    pub(super) const fn with_default(self, default: FieldDefault) -> Self {
        Self { default: Some(default), ..self }
    }

    /// Returns true if a script's key names this option.
    pub fn has_key(&self, key: &str) -> bool {
        self.name == key || self.former_name == Some(key)
    }
}

/// One host function.
#[derive(Clone, Copy, derive_more::Debug)]
#[debug("HostFn({})", self.usage())]
pub struct HostFn {
    /// Name of the function. Two rows may share a name if they take different numbers of arguments.
    pub name: &'static str,
    pub group: FunctionGroup,
    pub arguments: &'static [Argument],
    /// Options in the map after the arguments; without options there is no such map.
    pub options: &'static [&'static [HostOption]],
    /// Description in a sentence or two.
    pub doc: &'static str,
    /// Right that the function needs at its merchant.
    pub right: Option<ScriptPower>,
    /// Former name, which still works.
    pub former_name: Option<&'static str>,
    /// Name in the journal, where it differs: the verb of an action request, or the name of a read.
    pub journal_name: Option<&'static str>,
    pub(crate) call: fn(&HostCall<'_>) -> CallResult,
}

impl HostFn {
    /// Marks an action that the configuration must open.
    pub(super) const fn with_right(self, power: ScriptPower) -> Self {
        Self { right: Some(power), ..self }
    }

    /// Keeps a former name of the function, and its name in the journal.
    pub(super) const fn renamed(
        self,
        former_name: &'static str,
        journal_name: Option<&'static str>,
    ) -> Self {
        Self { former_name: Some(former_name), journal_name, ..self }
    }

    pub fn options(&self) -> impl Iterator<Item = &'static HostOption> {
        self.options.iter().copied().flatten()
    }

    /// Returns every name that a script may call the function by.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        [Some(self.name), self.former_name].into_iter().flatten()
    }

    /// Returns the name that the journal has for the function's action requests or reads. It never
    /// changes: names of actions are derived from it.
    pub fn recorded_name(&self) -> &'static str {
        self.journal_name.unwrap_or(self.name)
    }

    /// Returns the numbers of arguments that the function takes; the map of options is optional.
    pub fn argument_counts(&self) -> RangeInclusive<usize> {
        let least = self.arguments.len();
        least..=least.saturating_add(usize::from(!self.options.is_empty()))
    }

    /// Formats a call: `refund(charge, #{…})`.
    pub fn usage(&self) -> String {
        let mut words: Vec<&str> = self.arguments.iter().map(|argument| argument.name).collect();
        if !self.options.is_empty() {
            words.push("#{…}");
        }
        format!("{}({})", self.name, words.join(", "))
    }
}

/// One call of a host function, whose arguments have the right types.
pub(crate) struct HostCall<'a> {
    pub(crate) session: &'a RunSession,
    row: &'a HostFn,
    /// The function's name as the script writes it.
    name: &'static str,
    arguments: Vec<Dynamic>,
    options: Map,
}

pub(super) const fn argument(name: &'static str, sort: ArgumentType) -> Argument {
    Argument { name, value_type: sort }
}

pub(super) const fn option(
    name: &'static str,
    sort: ArgumentType,
    doc: &'static str,
) -> HostOption {
    HostOption { name, value_type: sort, doc, former_name: None, default: None }
}

/// Returns the row of a function that requests an action.
pub(super) const fn action(
    name: &'static str,
    arguments: &'static [Argument],
    options: &'static [&'static [HostOption]],
    call: fn(&HostCall<'_>) -> CallResult,
    doc: &'static str,
) -> HostFn {
    host_fn(name, FunctionGroup::Action, (arguments, options), call, doc)
}

/// Returns the row of a function without a right, whose name is the same everywhere.
pub(super) const fn host_fn(
    name: &'static str,
    group: FunctionGroup,
    (arguments, options): (&'static [Argument], &'static [&'static [HostOption]]),
    call: fn(&HostCall<'_>) -> CallResult,
    doc: &'static str,
) -> HostFn {
    let (right, former_name, journal_name) = (None, None, None);
    HostFn { name, group, arguments, options, doc, right, former_name, journal_name, call }
}

/// Options of every action.
pub(super) const COMMON: &[HostOption] = &[
    option(
        "name",
        ArgumentType::Name,
        "the action's permanent name within this event: one name does one thing, once. Derived \
        from the arguments by default",
    ),
    option("at", ArgumentType::Moment, "the earliest time; at once by default"),
];

impl<'a> HostCall<'a> {
    pub(crate) fn new(
        session: &'a RunSession,
        (row, name): (&'a HostFn, &'static str),
        mut arguments: Vec<Dynamic>,
    ) -> Result<Self, HostError> {
        let options = if arguments.len() > row.arguments.len() {
            let map = arguments.pop().and_then(Dynamic::try_cast::<Map>);
            map.ok_or_else(|| format!("`{name}` takes a map of options at its end: `#{{…}}`"))?
        } else {
            Map::new()
        };
        let options = options.into_iter().map(|(key, value)| {
            let option = row.options().find(|option| option.has_key(&key));
            (option.map_or(key, |option| option.name.into()), value)
        });
        let call = Self { session, row, name, arguments, options: options.collect() };
        call.check()?;
        Ok(call)
    }

    fn check(&self) -> Result<(), String> {
        let (known, name) = (&*self.session.names, self.name);
        for (argument, value) in self.row.arguments.iter().zip(&self.arguments) {
            argument.value_type.check_value(value, known).map_err(|unfit| {
                format!("`{}` of `{name}` {}; {}", argument.name, unfit.message, unfit.help)
            })?;
        }
        for (key, value) in &self.options {
            let Some(option) = self.row.options().find(|option| option.name == key.as_str()) else {
                return Err(format!("`{name}` has no option `{key}`"));
            };
            option.value_type.check_value(value, known).map_err(|unfit| {
                format!("the option `{key}` of `{name}` {}; {}", unfit.message, unfit.help)
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

    pub(crate) fn moment(&self, index: usize) -> Result<ScriptMoment, String> {
        parse_moment(&self.argument(index))
    }

    pub(crate) fn option(&self, name: &str) -> Option<Dynamic> {
        self.options.get(name).cloned()
    }

    /// Returns the verb of the action that the function requests.
    pub(crate) fn verb(&self) -> &'static str {
        self.row.recorded_name()
    }

    /// Returns the names of the function's arguments and options.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        let arguments = self.row.arguments.iter().map(|argument| argument.name);
        arguments.chain(self.row.options().map(|option| option.name))
    }

    /// Returns the argument or option of a name, with its type.
    pub(crate) fn named(&self, name: &str) -> Option<(Dynamic, ArgumentType)> {
        if let Some(index) = self.row.arguments.iter().position(|one| one.name == name) {
            return Some((self.argument(index), self.row.arguments.get(index)?.value_type));
        }
        let option = self.row.options().find(|option| option.name == name)?;
        Some((self.option(name)?, option.value_type))
    }

    pub(crate) fn default(&self, name: &str) -> Option<FieldDefault> {
        self.row.options().find(|option| option.name == name)?.default
    }

    pub(crate) fn option_text(&self, name: &str) -> Option<String> {
        self.option(name).map(|value| text_of(&value))
    }

    /// Returns the merchant that the call names, or else that of the event; an error if there is
    /// neither.
    pub(crate) fn merchant(&self) -> Result<Key, String> {
        if let Some(name) = self.option_text("merchant") {
            return parse(&format!("Merchant/{name}"));
        }
        self.session.merchant().cloned().ok_or_else(|| {
            format!("this event has no merchant: `{}` needs the option `merchant`", self.name)
        })
    }

    /// Requests an action and returns its name.
    pub(crate) fn request(&self, merchant: Option<Key>, fields: Value) -> CallResult {
        self.request_at_most(merchant, fields, None)
    }

    /// Requests an action, with an upper bound on the frequency of a notification.
    pub(crate) fn request_at_most(
        &self,
        merchant: Option<Key>,
        fields: Value,
        at_most: Option<AtMost>,
    ) -> CallResult {
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
        let verb = self.verb();
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

pub(super) fn parse_moment(value: &Dynamic) -> Result<ScriptMoment, String> {
    match value.clone().try_cast::<ScriptMoment>() {
        Some(moment) => Ok(moment),
        None => ScriptMoment::parse(&value.to_string()),
    }
}

/// Formats a value as text: money and moments in their own form, lists and maps as JSON.
pub(super) fn text_of(value: &Dynamic) -> String {
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
        None => parse(&value.to_string()),
    }
}

pub(crate) fn record_amount(record: &Map) -> Result<Money, String> {
    let minor = record.get("amount").and_then(|value| value.as_int().ok());
    let minor = minor.ok_or("the record has no `amount`")?;
    let currency = record_currency(record)
        .ok_or("the record has no `currency`, so its worth is unknown: give money")?;
    Ok(Money::new(minor, parse(&currency)?))
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
