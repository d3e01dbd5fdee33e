//! Arguments of every command, for clap. Nothing here runs.

pub mod adopt;
pub mod events;
pub mod gateway;
pub mod hooks;
pub mod intake;
pub mod intents;
pub mod options;
pub mod plans;
pub mod server;
pub mod signed;
pub mod store;
pub mod suspend;
