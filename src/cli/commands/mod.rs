//! Commands: one folder for each job of an operator.

pub mod applying;
pub mod events;
pub mod forget;
pub mod gateway_actions;
pub mod gateway_fields;
pub mod hooks;
pub mod import;
pub mod init;
pub mod inspect;
pub mod payer_links;
pub mod planning;
pub mod sandbox;
pub mod seal;
pub mod signed;
pub mod store;
pub mod suspend;
