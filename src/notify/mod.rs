//! Notifications: chat and mail to an operator's own targets.

pub mod alert;
pub mod deliver;
pub mod mail;
pub mod message;
