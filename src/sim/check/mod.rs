//! Checkers of a run that has ended.

pub mod attention;
pub mod commands;
pub mod events;
pub mod evidence;
pub mod hook_books;
pub mod hooks;
pub mod laws;
pub mod limits;
pub mod money;
pub mod settlement;
pub mod state;
pub mod uniqueness;
