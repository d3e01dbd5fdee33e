//! `run`: the daemon, its listeners, scripts, notifications and tokens.

pub mod api_token;
pub mod listeners;
pub mod local_queries;
pub mod notifier;
pub mod run;
pub mod scripts;
pub mod signals;
pub mod targets;
pub mod trial_run;
