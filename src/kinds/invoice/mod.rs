//! Invoice: a request for payment to a contact, and its e-mails (partner-api, Invoice).

pub mod prerequisites;
pub mod shape;
pub mod spec;
mod step;
#[cfg(test)]
mod step_tests;
#[cfg(test)]
mod tests;
