//! Saved method: a card or bank account that the service keeps and that charges can use
//! (gateway-api, Saved cards, Saved banks).

pub mod bank;
#[cfg(test)]
mod bank_tests;
pub mod card;
mod fields;
mod intake;
#[cfg(test)]
mod intake_tests;
mod readback;
pub mod shape;
mod sketch;
mod source;
mod step;
#[cfg(test)]
mod step_tests;
#[cfg(test)]
mod tests;

pub use bank::Bank;
pub use card::Card;
pub(super) use step::source;

pub use intake::{applied_state, awaited_intake, given_details, is_intake};
pub use shape::{MethodType, SavedMethodKind, SavedMethodSpec};
pub use source::MethodSourceSpec;

pub use readback::{BANKS, CARDS};
