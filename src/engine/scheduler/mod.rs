//! The order of work: queue, lanes, throttle, backoff.

pub mod backoff;
pub mod lanes;
pub mod part;
pub mod queue;
pub mod superseded;
pub mod throttle;
