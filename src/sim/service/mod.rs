//! The emulated service, and everything between it and the engine.

pub mod control;
pub mod frontend;
pub mod notifier;
pub mod paging;
pub mod post_office;
pub mod sandbox;
pub mod weather;
