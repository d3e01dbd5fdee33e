//! Routes of the occurrences of a recurring charge (gateway-api, Recurring charge occurrence).

use super::charge_state::status_refusal;
use super::occurrence_state::{
    OccurrenceTransition, find_any_owner, find_pair, refuse_deleted, step,
};
use super::occurrences::{attempt, close};
use super::{charge_state, occurrence_state};
use crate::api::payments::transaction::Transaction;
use crate::api::query::Page;
use crate::api::recurring::occurrence::{Occurrence, OccurrenceStatus};
use crate::sandbox::answer::SandboxRefusal;
use crate::sandbox::http::documented_surface;
use crate::sandbox::http::request::{PageQuery, ParsedRequest};
use crate::sandbox::payments::charges;
use crate::sandbox::payments::transactions::StoredTransaction;
use crate::sandbox::state::lists::ObjectKind;
use crate::sandbox::state::store::ChangeUnit;

/// Returns the occurrence with its transactions.
fn show(cx: &ChangeUnit<'_>, id: &str) -> Result<Occurrence, SandboxRefusal> {
    let kept = find_any_owner(cx, id)?;
    let mut transactions: Vec<Transaction> = Vec::new();
    for id in &kept.internal.transactions {
        let transaction: Option<StoredTransaction> =
            cx.find_any_owner(ObjectKind::TRANSACTION, id)?;
        transactions.extend(transaction.map(|kept| kept.object));
    }
    let status = visible_status(cx, &kept.object.status);
    Ok(Occurrence { transactions: Some(transactions), status, ..kept.object })
}

/// Returns the visible status. The documents know only PENDING, PAID and IGNORED: a failed
/// occurrence can still be paid, so it is shown as pending (gateway-api, Recurring charge
/// occurrence).
fn visible_status(cx: &ChangeUnit<'_>, status: &OccurrenceStatus) -> OccurrenceStatus {
    let is_open = matches!(status, OccurrenceStatus::Failed | OccurrenceStatus::Paying);
    if is_open && documented_surface::is_documented_only(cx) {
        OccurrenceStatus::Pending
    } else {
        status.clone()
    }
}

/// GET …/occurrences/{id}.
pub(crate) fn get(
    cx: &mut ChangeUnit<'_>,
    asked: &ParsedRequest,
) -> Result<Occurrence, SandboxRefusal> {
    let (_, kept) = find_pair(cx, asked)?;
    show(cx, &kept.object.id)
}

/// GET …/occurrences: newest first, so the pending or last one leads.
pub(crate) fn list(
    cx: &mut ChangeUnit<'_>,
    asked: &ParsedRequest,
) -> Result<Page<Occurrence>, SandboxRefusal> {
    let charge = charge_state::find(cx, &asked.owner()?, asked.parameter(0))?;
    let list = format!("{}/{}", ObjectKind::OCCURRENCE.word, charge.object.id);
    PageQuery::of(asked)?.of_list(cx, &list, |id| show(cx, id))
}

/// POST …/pay: pays early or again. A decline is answered as a decline, and its transaction is
/// kept.
pub(crate) fn pay(
    cx: &mut ChangeUnit<'_>,
    asked: &ParsedRequest,
) -> Result<Occurrence, SandboxRefusal> {
    let (charge, kept) = find_pair(cx, asked)?;
    let id = kept.object.id.clone();
    step(&kept.object.status, OccurrenceTransition::Pay)
        .filter(|_| !occurrence_state::is_paying(&kept))
        .ok_or_else(status_refusal)?;
    refuse_deleted(&charge)?;
    let transaction = attempt(cx, charge, kept)?;
    charges::into_answer(transaction)?;
    show(cx, &id)
}

/// POST …/ignore.
pub(crate) fn ignore(
    cx: &mut ChangeUnit<'_>,
    asked: &ParsedRequest,
) -> Result<Occurrence, SandboxRefusal> {
    let (charge, mut kept) = find_pair(cx, asked)?;
    refuse_deleted(&charge)?;
    close(cx, charge, &mut kept, OccurrenceTransition::Ignore)?;
    show(cx, &kept.object.id)
}
