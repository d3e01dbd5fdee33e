//! One effect from its job to its outcome.

pub mod answer;
pub mod body;
pub mod epoch;
pub mod found_object;
pub mod list_before_create;
pub mod outcome;
pub mod partner_webhook;
pub mod perform;
pub mod progress;
pub mod refused_credentials;
pub mod send;
pub mod settle;
pub mod single_use;
pub mod token;
