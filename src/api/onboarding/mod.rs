//! Merchant applications and the partner's webhooks about them (partner-api).

pub mod application;
pub mod fields;
pub mod partner_event;
pub mod plain;
pub mod rules;
pub mod schema;
pub mod signature;
