//! The plan as people see it, as a whole or in part.

pub mod against;
pub mod checksum;
pub mod due;
pub mod error_fields;
pub mod plan_check;
pub mod scoped;
pub mod view;
