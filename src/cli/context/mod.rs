//! Everything that a command opens: configuration, state, key, secrets, git, the daemon's session.

pub mod cache;
pub mod git;
pub mod machine;
pub mod open;
pub mod parts;
pub mod secrets;
pub mod selection;
pub mod sent_tree;
pub mod session;
pub mod state_handle;
