//! Types of the arguments and options of host functions. They are checked for literals when a
//! script is loaded, and for values when it runs.

use std::fmt;

use rhai::Dynamic;

use crate::api::reads::{READS, ReadEndpoint};
use crate::base::id::{Key, Name};
use crate::base::money::Money;
use crate::base::wording;
use crate::scripting::language::names::ScriptNames;
use crate::scripting::language::values::{ScriptMoment, parse};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentType {
    Any,
    Text,
    Integer,
    Number,
    Boolean,
    Map,
    Body,
    Name,
    Amount,
    Money,
    Moment,
    Resource,
    Merchant,
    Kind,
    Target,
    Object,
    Read,
    Template,
}

/// A value as far as the script's text shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Literal {
    Text(String),
    /// A text with interpolated parts.
    Interpolated,
    Whole,
    Truth,
    Character,
    List,
    Map,
    Unit,
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
    /// Returns the name of the type, as in "takes …", and an example of a literal.
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Any => ("any value", "\"text\""),
            Self::Text => ("a text", "\"text\""),
            Self::Integer => ("a whole number", "3"),
            Self::Number => ("a whole number or money", "3"),
            Self::Boolean => ("true or false", "true"),
            Self::Map => ("a map", "#{name: value}"),
            Self::Body => ("a text or a map", "\"Hello\""),
            Self::Name => ("a name", "\"second-try\""),
            Self::Amount => ("an amount above zero", "\"125.00 USD\""),
            Self::Money => ("money", "\"125.00 USD\""),
            Self::Moment => ("a date or time", "\"2026-11-30\""),
            Self::Resource => ("a resource", "\"RecurringCharge/jane\""),
            Self::Merchant => ("a merchant's name", "\"acme\""),
            Self::Kind => ("a kind", "\"Invoice\""),
            Self::Target => ("a target of `notify`", "\"ops\""),
            Self::Object => ("an id, or a map that has one", "event.data.id"),
            Self::Read => ("a read of the service", "\"recurring.get\""),
            Self::Template => ("a template of the scripts folder", "\"declined\""),
        }
    }

    /// Name of the type, as in "takes …".
    pub fn description(self) -> &'static str {
        self.words().0
    }

    /// Returns the instruction to use a value of this type.
    fn help(self, verb: &str) -> String {
        let (description, example) = self.words();
        format!("{verb} {description}, such as `{example}`")
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
            let message = format!("takes {}, not {literal}", self.description());
            return Err(ArgumentError::new(message, self.help("write")));
        }
        if let Literal::Text(text) = literal { self.check_text(text, known) } else { Ok(()) }
    }

    pub(crate) fn check_text(self, text: &str, known: &ScriptNames) -> Result<(), ArgumentError> {
        match self {
            Self::Name => self.explain(parse::<Name>(text)).map(drop),
            Self::Money => self.explain(parse::<Money>(text)).map(drop),
            Self::Amount => self.check_amount(text),
            Self::Moment => self.explain(ScriptMoment::parse(text)).map(drop),
            Self::Resource => self.check_resource(text, known),
            Self::Merchant => self.explain(parse::<Key>(&format!("Merchant/{text}"))).map(drop),
            Self::Kind => one_of("kind", text, known.configured.kinds.iter().map(String::as_str)),
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
            let message = format!("takes {}, not {found}", self.description());
            ArgumentError::new(message, self.help("give"))
        };
        match literal_of(value) {
            None if self == Self::Any => Ok(()),
            None => Err(wrong(value.type_name())),
            Some(literal) => self.check_literal(&literal, known).map_err(|unfit| {
                if self.accepts(&literal) { unfit } else { wrong(&literal.to_string()) }
            }),
        }
    }

    /// Splits an error text of ours into problem and fix.
    fn explain<T>(self, parsed: Result<T, String>) -> Result<T, ArgumentError> {
        parsed.map_err(|said| {
            let help = self.help("write");
            let (message, help) = said.rsplit_once("; ").unwrap_or((&said, &help));
            ArgumentError::new(format!("does not take this: {message}"), help)
        })
    }

    fn check_amount(self, text: &str) -> Result<(), ArgumentError> {
        let money: Money = self.explain(parse(text))?;
        if money.minor() <= 0 {
            let message = format!("takes an amount above zero, not {money}");
            return Err(ArgumentError::new(message, "write an amount such as `\"125.00 USD\"`"));
        }
        Ok(())
    }

    fn check_resource(self, text: &str, known: &ScriptNames) -> Result<(), ArgumentError> {
        let key: Key = self.explain(parse(text))?;
        let (kind, kinds) = (key.kind.as_str(), known.configured.kinds.iter().map(String::as_str));
        one_of("kind", kind, kinds.clone()).map_err(|_| {
            let message = format!("names the kind `{kind}`, and there is none");
            ArgumentError::new(message, wording::suggestion_help(kind, kinds))
        })
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

fn check_target(text: &str, known: &ScriptNames) -> Result<(), ArgumentError> {
    if known.configured.targets.is_empty() {
        let message =
            format!("takes a target of `notify`, and the configuration has none: `{text}`");
        let help =
            format!("add `notify: {{{text}: {{url: {{env: NAME}}, type: chat}}}}` to reckon.yaml");
        return Err(ArgumentError::new(message, help));
    }
    one_of("target of `notify`", text, known.configured.targets.iter().map(String::as_str))
}

fn check_template(text: &str, known: &ScriptNames) -> Result<(), ArgumentError> {
    if known.templates.is_empty() {
        let message = format!("takes a template, and the scripts folder has none: `{text}`");
        let help = format!("write `templates/{text}.txt` in the scripts folder");
        return Err(ArgumentError::new(message, help));
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
    let message = format!("takes a {what}, and `{text}` is none");
    Err(ArgumentError::new(message, wording::suggestion_help(text, all)))
}
