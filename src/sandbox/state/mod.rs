//! Storage of the emulator: objects, lists, timers, logs, fault rules, and webhooks to send.

pub mod faults;
pub(crate) mod former;
pub mod logs;
pub mod objects;
pub mod outbox;
pub mod store;
