//! Types of the arguments and options of host functions. They are checked for literals when a
//! script is loaded, and for values when it runs.

use std::fmt;

use rhai::Dynamic;

use crate::api::reads::{READS, ReadEndpoint};
use crate::base::id::{Key, Name};
use crate::base::money::Money;
use crate::base::wording;
use crate::scripting::language::names::ScriptNames;
use crate::scripting::language::values::ScriptMoment;

/// Type of an argument or option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentType {
    /// Any value.
    Any,
    Text,
    /// A whole number.
    Integer,
    /// A whole number, or money.
    Number,
    /// `true` or `false`.
    Boolean,
    /// `#{…}`.
    Map,
    /// A text or a map.
    Body,
    /// Name of an action.
    Name,
    /// A positive amount: money, or its text.
    Amount,
    /// Money, or its text.
    Money,
    /// A date or a time: a value of `date(…)`, or its text.
    Moment,
    /// A resource: `Kind/name`.
    Resource,
    /// Name of a merchant.
    Merchant,
    /// A kind of documents.
    Kind,
    /// A target of the configuration.
    Target,
    /// An object of the service: its id, or a map that has one.
    Object,
    /// A read of the service.
    Read,
    /// A template of the scripts folder.
    Template,
}

/// A value as far as the script's text shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Literal {
    Text(String),
    /// A text with interpolated parts.
    Interpolated,
    /// A whole number.
    Whole,
    /// `true` or `false`.
    Truth,
    /// One character.
    Character,
    /// `[…]`.
    List,
    /// `#{…}`.
    Map,
    /// `()`.
    Unit,
    /// `|x| …`.
    Function,
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text(_) | Self::Interpolated => "a text",
            Self::Whole => "a whole number",
            Self::Truth => "true or false",
            Self::Character => "a character",
            Self::List => "a list",
            Self::Map => "a map",
            Self::Unit => "nothing",
            Self::Function => "a function",
        })
    }
}

/// Problem with a value, and its fix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ArgumentError {
    pub(crate) message: String,
    pub(crate) help: String,
}

impl ArgumentError {
    fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), help: help.into() }
    }
}

impl ArgumentType {
    /// Name of the type, as in "takes …".
    pub fn description(self) -> &'static str {
        match self {
            Self::Any => "any value",
            Self::Text => "a text",
            Self::Integer => "a whole number",
            Self::Number => "a whole number or money",
            Self::Boolean => "true or false",
            Self::Map => "a map",
            Self::Body => "a text or a map",
            Self::Name => "a name",
            Self::Amount => "an amount above zero",
            Self::Money => "money",
            Self::Moment => "a date or time",
            Self::Resource => "a resource",
            Self::Merchant => "a merchant's name",
            Self::Kind => "a kind",
            Self::Target => "a target of `notify`",
            Self::Object => "an id, or a map that has one",
            Self::Read => "a read of the service",
            Self::Template => "a template of the scripts folder",
        }
    }

    /// Example of a literal.
    pub fn example(self) -> &'static str {
        match self {
            Self::Any | Self::Text => "\"text\"",
            Self::Integer | Self::Number => "3",
            Self::Boolean => "true",
            Self::Map => "#{name: value}",
            Self::Body => "\"Hello\"",
            Self::Name => "\"second-try\"",
            Self::Amount | Self::Money => "\"125.00 USD\"",
            Self::Moment => "\"2026-11-30\"",
            Self::Resource => "\"RecurringCharge/jane\"",
            Self::Merchant => "\"acme\"",
            Self::Kind => "\"Invoice\"",
            Self::Target => "\"ops\"",
            Self::Object => "event.data.id",
            Self::Read => "\"recurring.get\"",
            Self::Template => "\"declined\"",
        }
    }

    /// Returns true if a literal of this form can have the type.
    fn accepts(self, literal: &Literal) -> bool {
        let text = matches!(literal, Literal::Text(_) | Literal::Interpolated);
        match self {
            Self::Any => *literal != Literal::Function,
            Self::Integer | Self::Number => *literal == Literal::Whole,
            Self::Boolean => *literal == Literal::Truth,
            Self::Map => *literal == Literal::Map,
            Self::Body | Self::Object => text || *literal == Literal::Map,
            Self::Text
            | Self::Name
            | Self::Amount
            | Self::Money
            | Self::Moment
            | Self::Resource
            | Self::Merchant
            | Self::Kind
            | Self::Target
            | Self::Read
            | Self::Template => text,
        }
    }

    /// Checks a literal.
    pub(crate) fn check_literal(
        self,
        literal: &Literal,
        known: &ScriptNames,
    ) -> Result<(), ArgumentError> {
        if *literal == Literal::Whole && matches!(self, Self::Money | Self::Amount) {
            let message = format!("takes {}, not {literal}", self.description());
            let help = "write it with its currency, such as `\"125.00 USD\"`; minor units are `money(12500, \"USD\")`";
            return Err(ArgumentError::new(message, help));
        }
        if !self.accepts(literal) {
            let help = format!("write {}, such as `{}`", self.description(), self.example());
            return Err(ArgumentError::new(
                format!("takes {}, not {literal}", self.description()),
                help,
            ));
        }
        match literal {
            Literal::Text(text) => self.check_text(text, known),
            Literal::Interpolated
            | Literal::Whole
            | Literal::Truth
            | Literal::Character
            | Literal::List
            | Literal::Map
            | Literal::Unit
            | Literal::Function => Ok(()),
        }
    }

    /// Checks a text of this type.
    pub(crate) fn check_text(self, text: &str, known: &ScriptNames) -> Result<(), ArgumentError> {
        match self {
            Self::Name => text
                .parse::<Name>()
                .map(drop)
                .map_err(|error| split_message(self, &error.to_string())),
            Self::Money => text
                .parse::<Money>()
                .map(drop)
                .map_err(|error| split_message(self, &error.to_string())),
            Self::Amount => check_amount(text),
            Self::Moment => {
                ScriptMoment::parse(text).map(drop).map_err(|why| split_message(self, &why))
            }
            Self::Resource => check_resource(text, known),
            Self::Merchant => {
                let key = format!("Merchant/{text}").parse::<Key>();
                key.map(drop).map_err(|error| split_message(self, &error.to_string()))
            }
            Self::Kind => one_of("kind", text, known.kinds.iter().map(String::as_str)),
            Self::Target => check_target(text, known),
            Self::Template => check_template(text, known),
            Self::Read if ReadEndpoint::find(text).is_none() => {
                one_of("read of the service", text, READS.iter().map(|read| read.name))
            }
            Self::Object if text.is_empty() => Err(ArgumentError::new(
                "takes an id, and this is empty",
                "write an id of the service",
            )),
            Self::Any
            | Self::Text
            | Self::Integer
            | Self::Number
            | Self::Boolean
            | Self::Map
            | Self::Body
            | Self::Object
            | Self::Read => Ok(()),
        }
    }

    /// Checks a value at run time.
    pub(crate) fn check_value(
        self,
        value: &Dynamic,
        known: &ScriptNames,
    ) -> Result<(), ArgumentError> {
        let money =
            matches!(self, Self::Money | Self::Amount | Self::Number) && value.is::<Money>();
        if money || (self == Self::Moment && value.is::<ScriptMoment>()) {
            return Ok(());
        }
        let wrong = |found: &str| {
            let help = format!("give {}, such as `{}`", self.description(), self.example());
            ArgumentError::new(format!("takes {}, not {found}", self.description()), help)
        };
        match literal_of(value) {
            None if self == Self::Any => Ok(()),
            None => Err(wrong(value.type_name())),
            Some(literal) => self.check_literal(&literal, known).map_err(|unfit| {
                if self.accepts(&literal) { unfit } else { wrong(&literal.to_string()) }
            }),
        }
    }
}

/// Returns the literal form of a value; `None` for money and dates.
fn literal_of(value: &Dynamic) -> Option<Literal> {
    if let Ok(text) = value.as_immutable_string_ref() {
        return Some(Literal::Text(text.to_string()));
    }
    let sorts = [
        (value.is_int(), Literal::Whole),
        (value.is_bool(), Literal::Truth),
        (value.is_char(), Literal::Character),
        (value.is_array(), Literal::List),
        (value.is_map(), Literal::Map),
        (value.is_unit(), Literal::Unit),
        (value.is_fnptr(), Literal::Function),
    ];
    sorts.into_iter().find(|(is, _)| *is).map(|(_, literal)| literal)
}

/// Splits an error text of ours into problem and fix.
fn split_message(sort: ArgumentType, said: &str) -> ArgumentError {
    let example = format!("write {}, such as `{}`", sort.description(), sort.example());
    let (message, help) = said.rsplit_once("; ").unwrap_or((said, &example));
    ArgumentError::new(format!("does not take this: {message}"), help)
}

fn check_amount(text: &str) -> Result<(), ArgumentError> {
    let money: Money = text.parse().map_err(|error: crate::base::money::MoneyError| {
        split_message(ArgumentType::Amount, &error.to_string())
    })?;
    if money.minor() <= 0 {
        let message = format!("takes an amount above zero, not {money}");
        return Err(ArgumentError::new(message, "write an amount such as `\"125.00 USD\"`"));
    }
    Ok(())
}

fn check_resource(text: &str, known: &ScriptNames) -> Result<(), ArgumentError> {
    let key: Key = text.parse().map_err(|error: crate::base::id::KeyError| {
        split_message(ArgumentType::Resource, &error.to_string())
    })?;
    let (kind, kinds) = (key.kind.as_str(), known.kinds.iter().map(String::as_str));
    one_of("kind", kind, kinds.clone()).map_err(|_| {
        let message = format!("names the kind `{kind}`, and there is none");
        ArgumentError::new(message, wording::suggestion_help(kind, kinds))
    })
}

fn check_target(text: &str, known: &ScriptNames) -> Result<(), ArgumentError> {
    if known.targets.is_empty() {
        let message =
            format!("takes a target of `notify`, and the configuration has none: `{text}`");
        let help =
            format!("add `notify: {{{text}: {{url: {{env: NAME}}, type: chat}}}}` to reckon.yaml");
        return Err(ArgumentError::new(message, help));
    }
    one_of("target of `notify`", text, known.targets.iter().map(String::as_str))
}

fn check_template(text: &str, known: &ScriptNames) -> Result<(), ArgumentError> {
    if known.templates.is_empty() {
        let message = format!("takes a template, and the scripts folder has none: `{text}`");
        return Err(ArgumentError::new(
            message,
            format!("write `templates/{text}.txt` in the scripts folder"),
        ));
    }
    one_of("template of the scripts folder", text, known.templates.keys().map(String::as_str))
}

fn one_of<'a>(
    what: &str,
    text: &str,
    all: impl Iterator<Item = &'a str> + Clone,
) -> Result<(), ArgumentError> {
    if all.clone().any(|known| known == text) {
        return Ok(());
    }
    Err(ArgumentError::new(
        format!("takes a {what}, and `{text}` is none"),
        wording::suggestion_help(text, all),
    ))
}
