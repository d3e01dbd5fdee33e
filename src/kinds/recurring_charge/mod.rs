//! Recurring charge: an amount that a saved method pays by a schedule (gateway-api, Recurring
//! charge).

mod account;
#[cfg(test)]
mod account_tests;
pub mod checks;
mod ending;
pub mod import;
#[cfg(test)]
mod intake_details_tests;
pub mod method;
#[cfg(test)]
mod method_tests;
mod request;
pub mod spec;
mod step;
#[cfg(test)]
mod step_tests;
#[cfg(test)]
mod tests;
