//! An invoice: what a contact is asked to pay, and the e-mails that ask (partner-api, Invoice).

mod attachments;
pub mod shape;
mod step;
#[cfg(test)]
mod step_tests;
#[cfg(test)]
mod tests;
pub mod totals;

pub use shape::{Attachment, Invoice, LineItem, Message, Spec};
