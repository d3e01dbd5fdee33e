//! Contact: the person that invoices are sent to (partner-api, Contact).

pub mod shape;
mod step;
#[cfg(test)]
mod tests;

pub use shape::{ContactKind, ContactSpec, EmailAddressSpec};
