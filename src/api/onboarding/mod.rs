//! Merchant applications and the partner's webhooks about them (partner-api).

pub mod application;
pub mod fields;
pub mod rules;
