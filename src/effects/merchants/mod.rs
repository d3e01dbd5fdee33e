//! Effects on merchants, their accounts and settings.

pub mod authorization;
pub mod details;
pub mod read;
pub mod settings;
