//! The sandbox's control paths, for people, tests and checkers on this machine only. They are no
//! part of the emulated service, do not count as requests to it, and faults never strike them.

pub mod clock;
pub mod mailbox;
pub mod merchants;
pub mod page;
pub mod router;
pub mod snapshot;
pub mod triggers;
