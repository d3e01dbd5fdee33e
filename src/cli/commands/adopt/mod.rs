//! Imports objects that the service has already, and forgets others.

pub mod disown;
pub mod forget;
pub mod import;
pub mod import_all;
