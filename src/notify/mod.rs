//! Notifications: chat and mail to an operator's own targets.

pub mod body;
pub mod deliver;
pub mod mail;
pub mod message;
pub mod mime;
pub mod sensitive;
pub mod target;
pub mod web;
