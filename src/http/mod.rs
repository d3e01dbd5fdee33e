//! The daemon's HTTP server: the private API, the public addresses, the connections.

pub mod connection_limits;
pub mod listener;
pub mod private;
pub mod public;
