//! Events of merchants: receive, poll, verify, record.

pub mod ingest;
pub mod poll;
pub mod receiver;
pub mod resync;
pub mod schedule;
