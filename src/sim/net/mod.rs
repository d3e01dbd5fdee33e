//! The simulated network between the service, the engine and the payers.

pub mod event_posts;
pub mod network;
pub mod paging;
pub mod post_office;
pub mod receivers;
pub mod storm;
pub mod weather;
