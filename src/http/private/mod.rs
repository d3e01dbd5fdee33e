//! The API for operators and pipelines.

pub mod answer;
pub mod body;
pub mod guard;
pub mod pages;
pub mod router;
pub mod rpc;
pub mod tokens;
pub mod writes;
