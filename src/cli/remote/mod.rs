//! A daemon on another machine: requests, its answers, and the tree that it plans.

pub mod address;
pub mod apply;
pub mod client;
pub mod daemon;
pub mod failure;
pub mod sent_tree;
