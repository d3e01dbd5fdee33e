//! The service's HTTP contract, shared by the client and the sandbox.
//!
//! One endpoint is one small type: its address, its required credential, its request and its reply.
//! The client builds a [`Call`](call::Call) from it and the sandbox routes by it, so the two cannot disagree
//! about a path. Shared types cannot prove either side right: the reference documents and other
//! people's clients do that.

pub mod call;
pub mod contact;
pub mod credentials;
pub mod event;
pub mod invoice;
pub mod merchant;
pub mod method;
pub mod method_token;
pub mod reads;
pub mod rules;
pub mod saved_method;
pub mod schedule;
pub mod transaction;
pub mod transaction_action;
pub mod wire;

pub mod onboarding;
pub mod recurring;
#[cfg(test)]
mod tests;
