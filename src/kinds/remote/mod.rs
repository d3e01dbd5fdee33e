//! Read-back, import, and errors of the service by field.

pub mod error_field;
pub mod import_check;
pub mod readback;
