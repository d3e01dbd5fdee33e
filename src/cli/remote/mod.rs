//! A daemon on another machine: requests, its answers, and the tree that it plans.

pub mod address;
pub mod client;
pub mod daemon;
