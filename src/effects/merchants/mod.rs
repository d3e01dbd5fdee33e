//! Effects on merchants, their accounts and settings.

pub mod account_change;
pub mod accounts;
pub mod binding;
pub mod change;
pub mod code_exchange;
pub mod deauthorise;
pub mod purge;
pub mod read;
pub mod settings;
pub mod survey;
