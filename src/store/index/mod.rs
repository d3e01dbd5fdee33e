//! Ordered key-value storage of the projection.

pub mod buffered;
pub mod logged;
pub mod ordered;
pub mod paths;
pub mod sled;
