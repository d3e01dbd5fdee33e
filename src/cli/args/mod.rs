//! Arguments of every command, for clap. Nothing here runs.

pub mod events;
pub mod gateway_actions;
pub mod gateway_fields;
pub mod options;
pub mod resources;
pub mod store;
