//! Register of host functions: the functions that scripts can call in addition to the language, one
//! row each.
//!
//! A row holds everything about a function. The checker reads its arity, types and options, the
//! documentation reads its sentence, and the engine calls its `call`.

mod actions;
mod helpers;
mod reads;

use std::fmt;

use rhai::Dynamic;

use super::functions::HostCall;
use crate::policy::ScriptPower;
use crate::scripting::check::argument_type::ArgumentType;
use crate::scripting::run::session::HostError;

/// Part of the documentation that lists a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FunctionGroup {
    /// The function requests an action.
    Action,
    /// The function reads.
    Read,
    /// The function calculates.
    Helper,
}

/// One argument.
#[derive(Debug, Clone, Copy)]
pub struct Argument {
    pub name: &'static str,
    pub value_type: ArgumentType,
}

/// One entry of the map of options.
#[derive(Debug, Clone, Copy)]
pub struct HostOption {
    pub name: &'static str,
    pub value_type: ArgumentType,
    /// Meaning of the option.
    pub doc: &'static str,
    /// Former key, which still works.
    pub former_name: Option<&'static str>,
}

impl HostOption {
    /// Returns true if a script's key names this option.
    pub fn has_key(&self, key: &str) -> bool {
        self.name == key || self.former_name == Some(key)
    }
}

/// One host function.
#[derive(Clone, Copy)]
pub struct HostFn {
    /// Name of the function. Two rows may share a name if they take different numbers of arguments.
    pub name: &'static str,
    pub group: FunctionGroup,
    /// Arguments in order.
    pub arguments: &'static [Argument],
    /// Options in the map after the arguments; without options there is no such map.
    pub options: &'static [&'static [HostOption]],
    /// Description in a sentence or two.
    pub doc: &'static str,
    /// Right that the function needs at its merchant.
    pub right: Option<ScriptPower>,
    /// Runs the function.
    pub(crate) call: fn(&HostCall<'_>) -> Result<Dynamic, HostError>,
}

impl fmt::Debug for HostFn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HostFn({})", self.usage())
    }
}

impl HostFn {
    /// Returns the options of the function.
    pub fn options(&self) -> impl Iterator<Item = &'static HostOption> {
        self.options.iter().copied().flatten()
    }

    /// Returns true if the function takes this number of arguments.
    pub fn takes(&self, count: usize) -> bool {
        let least = self.arguments.len();
        count == least || (!self.options.is_empty() && count == least.saturating_add(1))
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

/// Returns every host function.
pub fn rows() -> impl Iterator<Item = &'static HostFn> + Clone {
    actions::ROWS.iter().chain(reads::ROWS).chain(helpers::ROWS)
}

/// Returns the rows of a name.
pub fn rows_named(name: &str) -> impl Iterator<Item = &'static HostFn> {
    rows().filter(move |row| row.name == name)
}

const fn argument(name: &'static str, sort: ArgumentType) -> Argument {
    Argument { name, value_type: sort }
}

const fn option(name: &'static str, sort: ArgumentType, doc: &'static str) -> HostOption {
    HostOption { name, value_type: sort, doc, former_name: None }
}
