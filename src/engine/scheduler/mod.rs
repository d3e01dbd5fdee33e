//! The order of work: queue, lanes, throttle, backoff.

pub mod backoff;
pub mod lane_table;
pub mod lanes;
pub mod queue;
pub mod schedule;
pub mod throttle;

#[cfg(test)]
mod tests;
