//! `run`: the daemon, its listeners, scripts, notifications and tokens.

pub mod listeners;
pub mod local_queries;
pub mod reload;
pub mod run;
pub mod scripts;
pub mod targets;
