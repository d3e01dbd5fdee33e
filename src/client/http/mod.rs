//! Transport: addresses, TLS, credentials, and the meaning of each answer.

pub mod access;
pub mod address;
pub mod classify;
pub mod error;
pub mod read;
pub mod sensitive;
pub mod tenant;
pub mod tls;
pub mod transport;
