//! Words without I/O: ids, money, schedules, time, digests, card numbers and secrets; and the one door to folders.
//!
//! Floor 0: imports nothing of this crate but itself. Everything here is a value with its rule, checked where
//! it enters. Nothing but `folder` reads a file, and nothing reads the network or the environment.

pub mod card;
pub mod causes;
pub mod clock;
pub mod counted;
pub mod folder;
pub mod hash;
pub mod id;
pub mod local;
pub mod look;
pub mod money;
pub mod nearest;
pub mod outside;
pub mod packed;
pub mod planted;
pub mod routing;
pub mod schedule;
pub mod sealed;
pub mod secret;
