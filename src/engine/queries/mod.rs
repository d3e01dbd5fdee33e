//! Answers queries from the present state.

pub mod alerts;
pub mod answer;
pub mod conditions;
pub mod event_detail;
pub mod event_list;
pub mod event_runs;
pub mod events;
pub mod graph;
pub mod intents;
pub mod journal_refs;
pub mod next_steps;
pub mod pages;
pub mod plan;
pub mod plan_check;
pub mod replay;
pub mod resources;
pub mod scoped;
pub mod scripts;
