//! A saved method: a card that the service keeps and that charges can use (gateway-api, Saved cards).

pub mod shape;
mod step;
#[cfg(test)]
mod tests;

pub use shape::{Card, MethodType, SavedMethod, Source, Spec};
