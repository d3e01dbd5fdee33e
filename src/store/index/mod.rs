//! Ordered key-value storage of the projection.

pub mod buffered;
pub mod ordered;
pub mod sled;
