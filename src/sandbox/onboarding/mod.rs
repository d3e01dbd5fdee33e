//! Merchant applications: the form, its rules and the decision.

pub mod applications;
pub mod decide;
pub mod field_labels;
pub mod field_messages;
pub mod form;
pub mod page;
pub mod record;
pub mod states;
pub mod typed_signature;
