//! Read of a transaction that verifies a person's resolution of an effect.

use super::register::RemoteQuery;
use super::transactions::transaction_query;
use super::{charge, charge_capture, refund, transaction_void};
use crate::base::id::RemoteId;

/// Effects that a transaction proves or disproves: the one that they created, or their target.
const VERIFIABLE: [&str; 5] = [
    charge::CHARGE.name,
    charge::CREDIT.name,
    refund::ROW.name,
    charge_capture::ROW.name,
    transaction_void::ROW.name,
];

/// Returns the read of the transaction that identifies an effect; none for other effects.
pub fn verifying_query(effect: &str, id: &RemoteId) -> Option<RemoteQuery> {
    VERIFIABLE.contains(&effect).then(|| transaction_query(Some(id)))
}
