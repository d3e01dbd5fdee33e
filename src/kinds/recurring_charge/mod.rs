//! Recurring charge: an amount that a saved method pays by a schedule (gateway-api, Recurring
//! charge).

mod account;
#[cfg(test)]
mod account_tests;
mod adopting;
mod checks;
mod dues;
mod ending;
mod fields;
mod given;
#[cfg(test)]
mod given_tests;
mod method;
#[cfg(test)]
mod method_tests;
mod readback;
mod request;
pub mod schedule;
pub mod shape;
mod sketch;
mod step;
#[cfg(test)]
mod step_tests;
mod surcharge;
#[cfg(test)]
mod tests;
mod today;

pub use given::{is_paid_by_payer, takes_token};
pub use schedule::ScheduleSpec;
pub use shape::{FirstCharge, RecurringChargeKind, RecurringChargeSpec, Surcharge};

pub use readback::CHARGES;
