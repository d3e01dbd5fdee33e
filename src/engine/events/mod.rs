//! Events of merchants: receive, poll, verify, record.

pub mod budget;
pub mod ingest;
pub mod partner_webhook;
pub mod poll;
pub mod polling;
pub mod receiver;
pub mod resync;
