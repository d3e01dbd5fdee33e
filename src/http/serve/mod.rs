//! Connections: bounded, timed, and fair to all clients.

pub mod connection;
pub mod listener;
pub mod seats;
pub mod write_timeout;
