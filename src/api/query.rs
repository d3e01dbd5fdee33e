//! Query parameters as an endpoint declares them, and the pages of a list.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::rules::AMOUNT_MAX;

/// One parameter of a query; none is required.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    pub name: &'static str,
    pub value_type: ParameterType,
    /// Meaning of the parameter, in words for the `OpenAPI` document.
    pub meaning: &'static str,
}

/// Type of a parameter's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterType {
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
    /// Declares a parameter.
    pub const fn new(name: &'static str, holds: ParameterType, meaning: &'static str) -> Self {
        Self { name, value_type: holds, meaning }
    }
}

/// Number of a list's page.
pub const PAGE: Parameter =
    Parameter::new("page", ParameterType::Integer(1, i64::MAX.cast_unsigned()), "the page, from 1");
/// Number of results in a page.
pub const PAGE_SIZE: Parameter = Parameter::new(
    "page_size",
    ParameterType::Integer(1, PAGE_SIZE_MAX),
    "results of a page; 20 by default",
);
/// Restricts a list to one account.
pub const ACCOUNT: Parameter =
    Parameter::new("account_id", ParameterType::Text, "only objects of this account");
/// Restricts a list to one reference.
pub const REFERENCE: Parameter =
    Parameter::new("reference", ParameterType::Text, "only objects with this reference");
/// Order of a list.
pub const ORDER: Parameter = Parameter::new(
    "order_by",
    ParameterType::Text,
    "fields separated by commas, `-` before a descending one; newest first by default",
);
/// Amount that a surcharge is calculated for.
pub const AMOUNT: Parameter = Parameter::new(
    "amount",
    ParameterType::Integer(1, AMOUNT_MAX.cast_unsigned()),
    "minor units; the answer then contains their surcharge and total",
);

/// One page of a list answer (gateway-api, Search results).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Page<T> {
    /// Number of this page, from 1.
    pub page: u64,
    /// Maximum number of results in a page.
    pub page_size: u64,
    /// Number of results over all pages.
    pub total_entries: u64,
    /// The results of this page.
    pub results: Vec<T>,
}

/// The largest `page_size` that a list accepts (gateway-api, Limits).
pub const PAGE_SIZE_MAX: u64 = 100;
