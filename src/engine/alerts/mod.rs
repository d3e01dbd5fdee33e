//! Alerts: messages about problems of resources to the targets of `notify`, each change once.
//!
//! `verdict` classes one resource, `watch` keeps the changes until they have lasted for a minute,
//! `target` decides what one target is sent, `content` makes the message, and `send` sends it.

pub(crate) mod content;
pub(crate) mod send;
pub(crate) mod target;
pub(crate) mod verdict;
pub(crate) mod watch;
