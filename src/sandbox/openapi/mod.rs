//! The contract as a document, generated from the types that serve requests.

pub mod document;
pub mod page;
pub mod route;
