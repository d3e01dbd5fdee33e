//! The daemon's HTTP server: the private API, the public addresses, the connections.

pub mod private;
pub mod public;
pub mod serve;
