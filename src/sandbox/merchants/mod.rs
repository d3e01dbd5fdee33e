//! Merchants: their keys and accounts, the policies and limits set for them, their events, and the
//! authorisation that the partner has from them.

pub mod accounts;
pub mod auth;
pub mod events;
pub mod merchant;
pub mod merchant_settings;
pub mod policy;
pub mod processing;
