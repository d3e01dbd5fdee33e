//! Cards, bank accounts, their vault and one-time tokens (gateway-api, Payment methods).

pub mod bank;
pub mod bank_account;
pub mod card;
pub mod method;
pub mod method_ref;
pub mod one_time_token;
pub mod saved;
pub mod token;
pub mod vault;
