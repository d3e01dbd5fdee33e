//! A recurring charge: an amount that a saved method pays by a schedule (gateway-api, Recurring charge).

pub mod schedule;
pub mod shape;
mod step;
#[cfg(test)]
mod tests;

pub use schedule::ScheduleSpec;
pub use shape::{RecurringCharge, Spec};
