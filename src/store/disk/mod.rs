//! The disk, as a seam that tests can make fail.

pub mod bytes;
pub mod lock;
pub mod private;
pub mod real;
pub mod traits;
