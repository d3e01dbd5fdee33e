//! Actions: changes of the service that no document describes.

pub mod action;
pub mod fields;
pub mod follow_up;
pub mod ready;
pub mod removal;
pub mod report;
