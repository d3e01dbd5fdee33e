//! Addresses for the service, applicants and payers.

pub mod ingress;
pub mod links;
pub mod pages;
pub mod public_routes;
pub mod webhooks;
