//! Effects on recurring charges and their occurrences.

pub mod cancel;
pub mod change;
pub mod create;
pub mod delete;
pub mod end;
pub mod occurrence_pay;
pub mod occurrence_skip;
pub mod read;
