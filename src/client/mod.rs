//! Calls to the service: one request, classified, at the permitted rate.
//!
//! `service_client` is the entry. Nothing else in the program speaks to the service.

pub mod http;
pub mod limiter;
pub mod service_client;
