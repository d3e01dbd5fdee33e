//! Checkers of a run that has ended.

pub mod applications;
pub mod attention;
pub mod call_laws;
pub mod commands;
pub mod epoch;
pub mod events;
pub mod evidence;
pub mod hook_books;
pub mod hooks;
pub mod limits;
pub mod money;
pub mod settlement;
pub mod state;
pub mod uniqueness;
