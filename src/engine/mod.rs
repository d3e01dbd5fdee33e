//! The shell around the pure core: one loop that plans, starts effects, settles them and answers.
//!
//! `core` owns the loop. Floors: known and limits; then readers and executor; then events, hooks,
//! commands and queries; then the scheduler; then the loop.

pub mod commands;
pub mod core;
pub mod events;
pub mod executor;
pub mod hooks;
pub mod known;
pub mod limits;
pub mod queries;
pub mod readers;
pub mod scheduler;
pub mod view;
