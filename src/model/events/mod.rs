//! Events, webhooks and hook runs.

pub mod event;
pub mod hook;
pub mod hook_run;
pub mod replay;
pub mod scripts;
