//! The order of work: queue, lanes, throttle, backoff.

pub mod admission;
pub mod backoff;
pub mod failures;
pub mod held;
pub mod schedule;

#[cfg(test)]
mod tests;
