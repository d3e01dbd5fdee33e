//! Hooks, their scripts, and the data that scripts see.

pub mod hooks;
pub mod quotas;
pub mod resource_data;
pub mod roster;
pub mod trial_run;
