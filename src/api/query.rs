//! The parameters of a query, as an endpoint declares them.

use crate::api::PAGE_SIZE_MAX;
use crate::api::rules::AMOUNT_MAX;

/// One parameter of a query; none is required.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What it may hold.
    pub holds: Holds,
    /// What it does.
    pub meaning: &'static str,
}

/// What a parameter may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// Any text.
    Text,
    /// Texts of this pattern; the parameter may be repeated.
    Texts(&'static str),
    /// A whole number between two bounds, both included.
    Integer(u64, u64),
    /// `yyyy-mm-dd`.
    Date,
    /// ISO 8601 with a time zone.
    Moment,
    /// `true` or `false`.
    Flag,
}

impl Parameter {
    /// A parameter.
    pub const fn new(name: &'static str, holds: Holds, meaning: &'static str) -> Self {
        Self { name, holds, meaning }
    }
}

/// Which page of a list.
pub const PAGE: Parameter =
    Parameter::new("page", Holds::Integer(1, i64::MAX.cast_unsigned()), "the page, from 1");
/// How much of a list.
pub const PAGE_SIZE: Parameter = Parameter::new(
    "page_size",
    Holds::Integer(1, PAGE_SIZE_MAX),
    "results of a page; 20 where left out",
);
/// Of one account alone.
pub const ACCOUNT: Parameter = Parameter::new("account_id", Holds::Text, "of this account alone");
/// Of one reference alone.
pub const REFERENCE: Parameter =
    Parameter::new("reference", Holds::Text, "with this reference alone");
/// In which order.
pub const ORDER: Parameter = Parameter::new(
    "order_by",
    Holds::Text,
    "fields separated by commas, `-` before one that falls; newest first where left out",
);
/// What a surcharge is reckoned for.
pub const AMOUNT: Parameter = Parameter::new(
    "amount",
    Holds::Integer(1, AMOUNT_MAX.cast_unsigned()),
    "minor units; the answer then says what they come to",
);
