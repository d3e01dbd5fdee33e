//! Requests that change something, and their wire limits.

pub mod import;
pub mod intake;
pub mod limits;
pub mod receiver;
pub mod storage;
