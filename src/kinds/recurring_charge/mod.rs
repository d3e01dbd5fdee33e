//! Recurring charge: an amount that a saved method pays by a schedule (gateway-api, Recurring
//! charge).

mod account;
#[cfg(test)]
mod account_tests;
pub mod checks;
mod dues;
mod ending;
mod fields;
pub mod import_checks;
pub mod import_template;
#[cfg(test)]
mod intake_details_tests;
pub mod method;
#[cfg(test)]
mod method_tests;
pub(crate) mod readback;
mod request;
pub mod spec;
mod step;
#[cfg(test)]
mod step_tests;
mod surcharge;
#[cfg(test)]
mod tests;
mod today;
