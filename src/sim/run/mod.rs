//! One run of a world: its people, the lives of its machine, and its verdict.

pub mod life;
pub mod memory;
pub mod people;
pub mod recovery;
pub mod requests;
pub mod settler;
pub mod state;
