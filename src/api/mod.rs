//! The service's HTTP contract, shared by the client and the sandbox.
//!
//! One endpoint is one small type: its address, its required credential, its request and its reply.
//! The client builds a [`Call`](call::Call) from it and the sandbox routes by it, so the two cannot disagree
//! about a path. Shared types cannot prove either side right: the reference documents and other
//! people's clients do that.

pub mod audit;
pub mod call;
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
