//! Kinds: the resources that a document can name, one folder each over shared parts.

pub mod contact;
pub mod decode_error;
pub mod invoice;
pub mod json_schema;
pub mod merchant;
pub mod merchant_application;
pub mod planning;
pub mod recurring_charge;
pub mod register;
pub mod remote;
pub mod row;
pub mod saved_method;
pub mod schema;
pub mod secrets;
#[cfg(test)]
pub(crate) mod testing;
