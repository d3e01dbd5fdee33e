//! Effects on merchants, their accounts and settings.

pub mod accounts;
pub mod authorization;
pub mod change;
pub mod read;
pub mod settings;
