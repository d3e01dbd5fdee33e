//! Rate limits and the breaker, for each credential and each host.

pub mod admission;
pub mod breaker;
pub mod bucket;
pub mod gate;
