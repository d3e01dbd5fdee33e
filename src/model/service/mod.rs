//! Answers of the service: outcomes, refusals and their classes, and versions of its objects.

pub mod error_class;
pub mod outcome;
pub mod remote_object;
pub mod retry;
