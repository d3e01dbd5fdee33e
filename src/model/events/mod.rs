//! Events, webhooks and hook runs.

pub mod at_most;
pub mod event;
pub mod hook;
pub mod hook_run;
pub mod known_scripts;
pub mod partner_webhook;
pub mod remote_object;
pub mod script_values;
