//! Pages of the emulator's own, and the hosted fields.

pub mod hosted_fields;
pub mod site;
pub mod start_page;
