//! Effects on merchant applications.

pub mod sign_up;
pub mod submit;
