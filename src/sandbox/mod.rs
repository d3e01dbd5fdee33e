//! A complete emulator of the service, both surfaces, as a server of its own.
//!
//! Rules cite the chapter of the reference that they come from.

pub mod answer;
pub mod body;
pub mod control;
pub mod dispatch;
pub mod invoicing;
pub mod merchants;
pub mod methods;
pub mod onboarding;
pub mod openapi;
pub mod options;
pub mod pages;
pub mod payments;
pub mod recurring;
pub mod request;
pub mod routes;
pub mod serve;
pub mod server;
pub mod state;
#[cfg(test)]
mod tests;
pub mod webhooks;
