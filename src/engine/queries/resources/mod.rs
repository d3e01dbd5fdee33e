//! Resources as people see them, with conditions and unknown objects.

pub mod conditions;
pub mod disown;
pub mod payments;
pub mod suspensions;
pub mod unknown_objects;
pub mod view;
