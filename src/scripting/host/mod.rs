//! Functions that scripts call, and the values that they get.

pub mod actions;
pub mod argument_type;
pub mod calculation;
pub mod call;
pub mod event_data;
pub mod money;
pub mod reads;
pub mod script_event;
pub mod session;
