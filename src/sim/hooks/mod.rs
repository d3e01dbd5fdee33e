//! Hooks in simulated worlds.

pub mod hook_scripts;
pub mod notifier;
pub mod script_set;
pub mod script_texts;
pub mod state;
