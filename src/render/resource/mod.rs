//! Resources for people: lists, the description of one, and the words and colours of their classes.

pub mod describe;
pub mod resource_list;
pub(super) mod standing;
