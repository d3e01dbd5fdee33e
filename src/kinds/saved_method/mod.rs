//! A saved method: a card or bank account that the service keeps and that charges can use
//! (gateway-api, Saved cards, Saved banks).

pub mod bank;
#[cfg(test)]
mod bank_tests;
pub mod card;
mod fields;
mod readback;
pub mod shape;
mod sketch;
mod step;
#[cfg(test)]
mod step_tests;
#[cfg(test)]
mod tests;

pub use bank::Bank;
pub use card::Card;
pub(super) use step::source;

pub use shape::{MethodType, SavedMethod, Source, Spec};

pub use readback::{BANKS, CARDS};
