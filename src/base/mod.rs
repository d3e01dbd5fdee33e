//! Values without I/O: ids, money, schedules, time, due times, digests, card numbers and secrets; and the only
//! access to folders.
//!
//! Floor 0: imports only itself from this crate. Every type here is a value with its rule, checked
//! where it enters. Only `folder` reads files, and nothing reads the network or the environment.

pub mod account_number;
/// Many values: in little memory, in several threads, the last used ones at hand.
pub mod bulk {
    pub mod packed;
    pub mod parallel;
    pub mod recent;
}
pub mod clock;
pub mod decode;
pub mod fault_injection;
pub mod folder;
pub mod folder_location;
pub mod hash;
pub mod histogram;
pub mod id;
pub(crate) mod json_schema;
pub mod local;
pub mod masking;
pub mod money;
pub mod outside_text;
pub mod page_style;
pub mod schedule;
pub mod secret;
pub mod timers;
pub mod wording;
