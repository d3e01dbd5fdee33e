//! `reckon.yaml`: read in full, with every problem in one run.

pub mod alerts;
pub mod approvals;
pub mod events;
pub mod limits;
pub mod notify;
pub mod policy;
pub mod prune;
pub mod read;
pub mod reader;
pub mod schema;
pub mod setting;
pub mod settings;
pub mod time_forms;
pub mod time_rules;
pub mod value;
