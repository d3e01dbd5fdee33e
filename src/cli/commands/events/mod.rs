//! Lists, triggers, replays and re-reads events, and manages webhook addresses.

pub mod history;
pub mod list;
pub mod resync;
pub mod trigger;
pub mod urls;
