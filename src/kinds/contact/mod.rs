//! Contact: the person that invoices are sent to (partner-api, Contact).

pub mod kind;
#[cfg(test)]
mod tests;

pub use kind::{ContactKind, ContactSpec, EmailAddressSpec};
