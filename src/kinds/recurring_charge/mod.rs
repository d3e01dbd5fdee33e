//! Recurring charge: an amount that a saved method pays by a schedule (gateway-api, Recurring
//! charge).

mod account;
#[cfg(test)]
mod account_tests;
mod checks;
mod dues;
mod ending;
mod fields;
pub mod import_checks;
pub mod import_template;
pub mod intake_details;
#[cfg(test)]
mod intake_details_tests;
mod method;
#[cfg(test)]
mod method_tests;
mod readback;
mod request;
pub mod schedule;
pub mod shape;
mod step;
#[cfg(test)]
mod step_tests;
mod surcharge;
#[cfg(test)]
mod tests;
mod today;

pub use intake_details::{is_paid_by_payer, takes_token};
pub use schedule::ScheduleSpec;
pub use shape::{FirstCharge, RecurringChargeKind, RecurringChargeSpec, Surcharge};

pub use readback::CHARGES;
