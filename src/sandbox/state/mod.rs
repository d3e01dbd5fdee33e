//! Storage of the emulator: objects, ids, time, timers, the ledger, webhooks to send.

pub mod cache;
pub mod events;
pub mod flush;
pub mod ids;
pub mod ledger;
pub mod lists;
pub mod outbox;
pub mod store;
pub mod time;
pub mod timers;
pub mod webhook_delivery;
pub mod webhook_http;
