//! Functions that scripts call, and the values that they get.

pub mod argument_type;
pub mod calculation;
pub mod call;
pub mod filter;
pub mod money;
pub mod notifications;
pub mod privacy;
pub mod reads;
pub mod register;
pub mod script_event;
pub mod session;
pub mod suspension;
