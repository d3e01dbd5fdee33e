//! Effects: one file for each family of changes at the service, with their requests, proofs and
//! settlements.

pub mod actions;
pub mod core;
pub mod invoices;
pub mod merchants;
pub mod methods;
pub mod onboarding;
pub mod payments;
pub mod recurring;
pub mod register;
#[cfg(test)]
pub(crate) mod testing;
