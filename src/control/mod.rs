//! The protocol between the engine and its clients: in the process, on the socket, from another
//! machine.

pub mod handle;
pub mod page_sessions;
pub mod posts;
pub mod protocol;
pub mod requests;
pub mod socket;
#[cfg(test)]
pub(crate) mod testing;
