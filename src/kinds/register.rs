//! Register of kinds, one line each.

use crate::kinds::remote::readback::ReadBack;
use crate::kinds::row::KindRow;
use crate::kinds::{
    contact, invoice, merchant, merchant_application, recurring_charge, saved_method,
};

/// All kinds, each after the kinds that it refers to.
pub static KINDS: &[KindRow] = &[
    merchant_application::step::ROW,
    merchant::step::ROW,
    contact::ROW,
    invoice::step::ROW,
    saved_method::step::ROW,
    recurring_charge::step::ROW,
];

/// Returns all lists of the service that show managed objects.
pub fn read_backs() -> impl Iterator<Item = &'static ReadBack> {
    KINDS.iter().flat_map(|row| row.read_backs.iter().copied())
}

pub fn find(name: &str) -> Option<&'static KindRow> {
    KINDS.iter().find(|row| row.name == name)
}

#[cfg(test)]
mod tests;
