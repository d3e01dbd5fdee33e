//! The state on disk: check, back up, restore, compact, exchange the key.

pub mod backup;
pub mod check;
pub mod compact;
pub mod rekey;
pub mod restore;
