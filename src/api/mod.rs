//! The service's HTTP contract, shared by the client and the sandbox.
//!
//! One endpoint is one small type: its address, its required credential, its request and its reply.
//! The client builds a [`Call`] from it and the sandbox routes by it, so the two cannot disagree
//! about a path. Shared types cannot prove either side right: the reference documents and other
//! people's clients do that.

pub mod audit;
mod call;
pub mod contact;
pub mod contact_hash;
pub mod credentials;
pub mod deauthorise;
pub mod event;
pub mod file;
pub mod invoice;
pub mod merchant;
pub mod problem;
pub mod query;
pub mod reads;
pub mod rules;
pub mod status;
pub mod wire;

pub mod methods;
pub mod onboarding;
pub mod payments;
pub mod recurring;
#[cfg(test)]
mod tests;

pub(crate) use call::encode;
pub use call::{Auth, Call, Endpoint, Host, LostReplyMarker, Method};
pub use problem::{Problem, ProblemMessage};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
