//! The read of a transaction by which a person's word on an effect is verified.

use super::register::Query;
use super::transactions::target;
use super::{charge, charge_capture, refund, transaction_void};
use crate::base::id::RemoteId;

/// The effects of which a transaction tells whether they happened: the one that they made, or their target.
const TOLD: [&str; 5] = [
    charge::CHARGE.name,
    charge::CREDIT.name,
    refund::ROW.name,
    charge_capture::ROW.name,
    transaction_void::ROW.name,
];

/// The read of the transaction by which an effect is known; none for other effects.
pub fn transaction_of(effect: &str, id: &RemoteId) -> Option<Query> {
    TOLD.contains(&effect).then(|| target(Some(id)))
}
