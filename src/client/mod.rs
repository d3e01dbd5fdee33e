//! Calls to the service: one request, classified, at the permitted rate.
//!
//! [`service_client`] is the entry: `config` builds it, `transport` carries its bytes, `classify`
//! decides what an answer proves, and `gate` bounds the rate. Nothing else in the program speaks to
//! the service.

pub mod calls;
pub mod classify;
pub mod gate;
pub mod limits;
pub mod read;
pub mod request;
pub mod service_client;
pub mod transport;
