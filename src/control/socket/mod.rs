//! The control socket of a running daemon.

pub mod address;
pub mod client;
pub mod line;
pub mod server;
