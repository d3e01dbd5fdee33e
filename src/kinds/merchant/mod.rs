//! Merchant: an account of the service, its mode and the credentials that open it.

mod as_said;
mod authorization;
mod binding;
mod leaving;
pub mod shape;
mod step;
#[cfg(test)]
mod tests;
pub mod zone;

pub use shape::{CredentialsSpec, GatewayKeys, MerchantKind, MerchantSpec};
pub use step::noon;
