//! One effect from its job to its outcome.

pub mod access;
pub mod body;
pub mod calls;
pub mod epoch;
pub mod failure;
pub mod found_object;
pub mod list_before_create;
pub mod outcome;
pub mod perform;
pub mod refused_credentials;
pub mod settle;
pub mod single_use;
pub mod token;
