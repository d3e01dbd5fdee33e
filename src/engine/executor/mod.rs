//! One effect from its job to its outcome.

pub mod answer;
pub mod checks;
pub mod epoch;
pub mod evidence;
pub mod partner_webhook;
pub mod perform;
pub mod progress;
pub mod request;
pub mod settle;
