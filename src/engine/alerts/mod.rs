//! Alerts: what each target is told about states of the daemon itself, each change once.
//!
//! `verdict` classes one resource, `watch` keeps the changes until they have stood for a minute,
//! `target` decides what one target is told, `content` makes the message, and `send` sends it.

pub(crate) mod content;
pub(crate) mod send;
pub(crate) mod target;
pub(crate) mod verdict;
pub(crate) mod watch;
