//! Saved method: a card or bank account that the service keeps and that charges can use
//! (gateway-api, Saved cards, Saved banks).

pub mod bank;
#[cfg(test)]
mod bank_tests;
pub mod card;
mod fields;
pub mod import_template;
pub(crate) mod intake;
#[cfg(test)]
mod intake_tests;
pub(crate) mod readback;
pub mod shape;
pub(crate) mod source;
pub(crate) mod step;
#[cfg(test)]
mod step_tests;
#[cfg(test)]
mod tests;
