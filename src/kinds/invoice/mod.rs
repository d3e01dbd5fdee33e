//! Invoice: a request for payment to a contact, and its e-mails (partner-api, Invoice).

mod attachments;
pub mod shape;
pub mod spec;
mod step;
#[cfg(test)]
mod step_tests;
#[cfg(test)]
mod tests;
pub mod totals;
