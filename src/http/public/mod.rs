//! Addresses for the service, applicants and payers.

pub mod apply;
pub mod ingress;
pub mod intake;
pub mod public_routes;
pub mod webhooks;
