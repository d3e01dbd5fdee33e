//! Saved method: a card or bank account that the service keeps and that charges can use
//! (gateway-api, Saved cards, Saved banks).

#[cfg(test)]
mod bank_tests;
pub mod details;
#[cfg(test)]
mod intake_tests;
pub mod shape;
pub(crate) mod source;
pub(crate) mod step;
#[cfg(test)]
mod step_tests;
#[cfg(test)]
mod tests;
