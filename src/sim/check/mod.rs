//! Laws that a run must keep, one file for each.

pub mod applications;
pub mod approvals;
pub mod call_laws;
pub mod commands;
pub mod compaction;
pub mod damage;
pub mod epoch;
pub mod events;
pub mod expected_names;
pub mod hooks;
pub mod laws;
pub mod limits;
pub mod merchant_data;
pub mod money;
pub mod removal;
pub mod settlement;
pub mod storm;
pub mod uniqueness;
pub mod unmarked_charges;
pub mod views;
