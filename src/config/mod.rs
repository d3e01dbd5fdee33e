//! `reckon.yaml`: read in full, with every problem in one run.

pub mod approval_file;
pub mod explain;
pub mod limits;
pub mod notify;
mod notify_form;
pub mod prune;
pub mod read;
pub mod reader;
pub mod schema;
pub mod script_rights;
pub mod sections;
pub mod setting;
pub mod settings;
pub mod signed;
pub mod store;
pub mod value;
pub mod webhooks;
