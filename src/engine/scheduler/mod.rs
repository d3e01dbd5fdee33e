//! The order of work: queue, lanes, throttle, backoff.

pub mod backoff;
pub mod lanes;
pub mod queue;
pub mod start;
pub mod superseded;
pub mod throttle;
