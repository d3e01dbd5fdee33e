//! Commands: one file or folder for each job of an operator.

pub mod backup;
pub mod documents;
pub mod events;
pub mod gateway_actions;
pub mod gateway_fields;
pub mod get;
pub mod hook_repl;
pub mod hook_trials;
pub mod hooks;
pub mod import;
pub mod init;
pub mod payer_links;
pub mod planning;
pub mod rekey;
pub mod sandbox;
pub mod signed;
pub mod store;
pub mod suspend;
pub mod webhook_urls;
pub mod why;
