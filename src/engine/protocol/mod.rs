//! Values between people, programs and tasks on one side, and the engine on the other: requests and answers.

pub mod actions;
pub mod alerts;
pub mod approvals;
pub mod diagnostics;
pub mod event_detail;
pub mod event_filter;
pub mod events;
pub mod graph;
pub mod hooks;
pub mod input;
pub mod intents;
pub mod next_steps;
pub mod pages;
pub mod payers;
pub mod query;
pub mod replay;
pub mod resources;
pub mod time_rules;
pub mod unknown_names;
pub mod views;
