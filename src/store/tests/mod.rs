//! Tests of the store as a whole, and the disks and values that its tests share.

pub(crate) mod support;
mod trouble;
