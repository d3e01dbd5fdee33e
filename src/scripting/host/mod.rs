//! Functions that scripts call, and the values that they get.

pub mod filter;
pub mod functions;
pub mod privacy;
pub mod register;
pub mod script_event;
pub mod stored_value;
pub mod template;
