//! Effects: one file for each change of the service, with its request, its proof and its
//! settlement.

pub mod actions;
pub mod core;
pub mod invoicing;
pub mod merchants;
pub mod methods;
pub mod onboarding;
pub mod payments;
pub mod recurring;
pub mod register;
#[cfg(test)]
pub(crate) mod testing;
