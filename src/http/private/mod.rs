//! The API for operators and pipelines.

pub mod answer;
pub mod auth;
pub mod router;
pub mod writes;
