//! Application for a new merchant: submitted once, then decided by the service's underwriting.

mod fields;
mod shape;
mod spec;
mod step;
#[cfg(test)]
mod tests;

pub use shape::MerchantApplicationKind;
pub use spec::MerchantApplicationSpec;
