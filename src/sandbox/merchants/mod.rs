//! Merchants, their accounts, policies, limits and authorisation.

pub mod accounts;
pub mod banking;
pub mod consent;
pub mod deauthorise;
pub mod geo_rules;
pub mod merchant;
pub mod merchant_settings;
pub mod oauth;
pub mod payouts;
pub mod policy;
pub mod processing;
pub mod purge;
pub mod requirements;
pub mod velocity;
pub mod verification;
