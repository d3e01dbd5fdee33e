//! The register of host functions: what scripts can call beside the language, one row each.
//!
//! A row is all there is of a function: the checker asks it for arity, sorts and options, the documentation for its
//! sentence, and the engine calls its `call`.

mod actions;
mod helpers;
mod reads;

use std::fmt;

use rhai::Dynamic;

use super::host::Call;
use super::session::Refused;
use super::sort::Sort;
use crate::policy::Power;

/// Which part of the documentation a function stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// It asks for something.
    Action,
    /// It reads something.
    Read,
    /// It reckons.
    Helper,
}

/// One argument.
#[derive(Debug, Clone, Copy)]
pub struct Argument {
    /// What it is called.
    pub name: &'static str,
    /// What it may be.
    pub sort: Sort,
}

/// One entry of the map at the end.
#[derive(Debug, Clone, Copy)]
pub struct HostOption {
    /// Its key.
    pub name: &'static str,
    /// What it may be.
    pub sort: Sort,
    /// What it means.
    pub doc: &'static str,
    /// The key that it had before; it still counts.
    pub formerly: Option<&'static str>,
}

impl HostOption {
    /// Whether a script means it by this key.
    pub fn is_called(&self, key: &str) -> bool {
        self.name == key || self.formerly == Some(key)
    }
}

/// One host function.
#[derive(Clone, Copy)]
pub struct HostFn {
    /// Its name. Two rows may share one where they take different numbers of arguments.
    pub name: &'static str,
    /// Where it stands in the documentation.
    pub group: Group,
    /// What it takes, in order.
    pub arguments: &'static [Argument],
    /// What the map behind the arguments may hold; without options there is no such map.
    pub options: &'static [&'static [HostOption]],
    /// What it does, in a sentence or two.
    pub doc: &'static str,
    /// The right that it needs at the merchant that it works on.
    pub power: Option<Power>,
    /// Does it.
    pub(super) call: fn(&Call<'_>) -> Result<Dynamic, Refused>,
}

impl fmt::Debug for HostFn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HostFn({})", self.usage())
    }
}

impl HostFn {
    /// Its options.
    pub fn options(&self) -> impl Iterator<Item = &'static HostOption> {
        self.options.iter().copied().flatten()
    }

    /// Whether it may be called with so many arguments.
    pub fn takes(&self, count: usize) -> bool {
        let least = self.arguments.len();
        count == least || (!self.options.is_empty() && count == least.saturating_add(1))
    }

    /// How it is called: `refund(charge, #{…})`.
    pub fn usage(&self) -> String {
        let mut words: Vec<&str> = self.arguments.iter().map(|argument| argument.name).collect();
        if !self.options.is_empty() {
            words.push("#{…}");
        }
        format!("{}({})", self.name, words.join(", "))
    }
}

/// Every host function.
pub fn rows() -> impl Iterator<Item = &'static HostFn> + Clone {
    actions::ROWS.iter().chain(reads::ROWS).chain(helpers::ROWS)
}

/// The rows of a name.
pub fn named(name: &str) -> impl Iterator<Item = &'static HostFn> {
    rows().filter(move |row| row.name == name)
}

const fn argument(name: &'static str, sort: Sort) -> Argument {
    Argument { name, sort }
}

const fn option(name: &'static str, sort: Sort, doc: &'static str) -> HostOption {
    HostOption { name, sort, doc, formerly: None }
}
