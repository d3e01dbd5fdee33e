//! Resources for people: lists, the description of one, and the words and colours of their classes.

pub mod describe;
pub(super) mod problem_groups;
pub mod resource_list;
pub(super) mod standing;
