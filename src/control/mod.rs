//! The protocol between the engine and its clients: in the process, on the socket, from another
//! machine.

pub mod local;
pub mod permissions;
pub mod posts;
pub mod protocol;
pub mod socket;
#[cfg(test)]
pub(crate) mod testing;
pub mod wire;
