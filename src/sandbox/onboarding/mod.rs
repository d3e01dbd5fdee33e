//! Merchant applications: the form, its rules and the decision.

pub mod applications;
pub mod form;
pub mod page;
pub mod record;
