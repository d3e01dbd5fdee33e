//! Lists, triggers, replays and re-reads events, and manages webhook addresses.

pub mod list;
pub mod trigger;
pub mod urls;
