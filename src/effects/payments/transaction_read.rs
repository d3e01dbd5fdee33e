//! Read of a transaction that verifies a person's resolution of an effect.

use super::transactions::transaction_query;
use super::{capture, charge, refund, void};
use crate::base::id::RemoteId;
use crate::effects::core::row::RemoteQuery;

/// Effects that a transaction proves or disproves: the one that they created, or their target.
const VERIFIABLE: [&str; 5] =
    [charge::CHARGE.name, charge::CREDIT.name, refund::ROW.name, capture::ROW.name, void::ROW.name];

/// Returns the read of the transaction that identifies an effect; none for other effects.
pub fn verifying_query(effect: &str, id: &RemoteId) -> Option<RemoteQuery> {
    VERIFIABLE.contains(&effect).then(|| transaction_query(Some(id)))
}
