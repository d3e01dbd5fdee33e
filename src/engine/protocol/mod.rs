//! Values between people, programs and tasks on one side, and the engine on the other: requests and answers.

pub mod commands;
pub mod input;
pub mod partner_webhook;
pub mod queries;
pub mod query;
pub mod resync;
pub mod script_set;
