//! Payments of an invoice, and its state (service-facts, 86; partner-api: pending at creation, no
//! transitions shown).
//!
//! The state follows the total of the payments that count, less the refunds. The invoice is updated
//! with every change of its payments.

use serde::de::IgnoredAny;

use crate::api::invoice::{Invoice, InvoicePayment};
use crate::api::method::MethodKind;
use crate::api::transaction::{Transaction, TransactionStatus};
use crate::api::wire::{Audit, Timestamp};
use crate::sandbox::answer::{Result, SandboxRefusal};
use crate::sandbox::state::objects::{ObjectKind, Stored};
use crate::sandbox::state::store::ChangeUnit;

pub(crate) type StoredInvoice = Stored<Invoice, ()>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InvoiceState {
    Pending,
    PartiallyPaid,
    Paid,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InvoiceTransition {
    /// A payer pays everything that is due.
    Pay,
    NonePaid,
    /// The payments that count are less than the total.
    PartPaid,
    /// The payments that count cover the total.
    FullyPaid,
}

/// Returns the state after a change. 422 for a change that the state does not allow.
pub(crate) fn after(state: InvoiceState, change: InvoiceTransition) -> Result<InvoiceState> {
    use {InvoiceState as S, InvoiceTransition as T};
    match (state, change) {
        (_, T::NonePaid) => Ok(S::Pending),
        (_, T::PartPaid) => Ok(S::PartiallyPaid),
        (S::Paid, T::Pay) => {
            let text = "This invoice is paid already";
            Err(SandboxRefusal::rule("unavailable_for_current_status", text))
        }
        (_, T::Pay | T::FullyPaid) => Ok(S::Paid),
    }
}

impl InvoiceState {
    pub(crate) fn of(word: &str) -> Result<Self> {
        let mut all = [Self::Pending, Self::PartiallyPaid, Self::Paid].into_iter();
        all.find(|state| state.as_str() == word).ok_or_else(SandboxRefusal::server_error)
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::PartiallyPaid => "partially_paid",
            Self::Paid => "paid",
        }
    }
}

fn invoice_key(transaction: &str) -> String {
    format!("x/invoice-of/{transaction}")
}

pub(crate) fn add(cx: &mut ChangeUnit, mut kept: StoredInvoice, paid: &Transaction) -> Result<()> {
    let payment = payment(cx.id_with_prefix("pmt_"), paid);
    cx.put(&invoice_key(&paid.id), &kept.object.id)?;
    kept.object.invoice_payments.push(payment);
    settle(cx, kept)
}

pub(crate) fn is_open(invoice: &Invoice) -> Result<bool> {
    let state = InvoiceState::of(&invoice.status)?;
    Ok(after(state, InvoiceTransition::Pay).is_ok() && invoice.total_amount_due > 0)
}

/// Updates the invoice that a changed transaction pays, if it pays one.
pub(crate) fn update_invoice(cx: &mut ChangeUnit, transaction: &str) -> Result<()> {
    let Some(invoice) = cx.get::<String>(&invoice_key(transaction))? else { return Ok(()) };
    cx.look_up(ObjectKind::INVOICE, &invoice)?.map_or(Ok(()), |kept| settle(cx, kept))
}

fn payment(id: String, paid: &Transaction) -> InvoicePayment {
    let method = paid.method.clone().unwrap_or_default();
    let is_card = method.kind == MethodKind::Card;
    let number = method.number.or(method.account_number).unwrap_or_default();
    let hidden = number.chars().count().saturating_sub(4);
    InvoicePayment {
        id,
        amount: paid.amount,
        unallocated_amount: 0,
        transaction_id: paid.id.clone(),
        payment_type: if is_card { "credit_card" } else { "bank_account" }.to_owned(),
        card_type: method.card_type.map(|one| one.as_str().to_owned()),
        last4_digits: Some(number.chars().skip(hidden).collect()),
        status: status(&paid.status).to_owned(),
    }
}

fn status(status: &TransactionStatus) -> &'static str {
    match status {
        TransactionStatus::Pending => "pending",
        TransactionStatus::Authorized => "authorized",
        TransactionStatus::Completed => "completed",
        TransactionStatus::Voided => "voided",
        TransactionStatus::Failed | TransactionStatus::Other(_) => "failed",
    }
}

/// Adds up the payments that count, and stores the updated invoice.
fn settle(cx: &mut ChangeUnit, mut kept: StoredInvoice) -> Result<()> {
    let mut paid: i64 = 0;
    for payment in &mut kept.object.invoice_payments {
        let (kind, id) = (ObjectKind::TRANSACTION, &payment.transaction_id);
        let found = cx.look_up::<Stored<Transaction, IgnoredAny>>(kind, id)?;
        let Some(found) = found else { continue };
        status(&found.object.status).clone_into(&mut payment.status);
        let sum = paid.checked_add(counted_amount(&found.object));
        paid = sum.ok_or_else(SandboxRefusal::server_error)?;
    }
    let invoice = &mut kept.object;
    invoice.amount_paid = paid;
    invoice.total_amount_due = invoice.total_amount.saturating_sub(paid);
    let next = after(InvoiceState::of(&invoice.status)?, transition_of(invoice))?;
    next.as_str().clone_into(&mut invoice.status);
    let before = invoice.modified.take().unwrap_or_default();
    invoice.modified = Some(Audit { timestamp: Some(Timestamp(cx.now)), ..before });
    cx.update(ObjectKind::INVOICE, &kept.object.id.clone(), &kept)
}

/// Returns the amount of a payment that counts: without refunds, and 0 for a failed or voided one.
fn counted_amount(paid: &Transaction) -> i64 {
    use TransactionStatus as S;
    match paid.status {
        S::Pending | S::Authorized | S::Completed => {
            paid.amount.saturating_sub(paid.amount_refunded.unwrap_or(0))
        }
        S::Voided | S::Failed | S::Other(_) => 0,
    }
}

fn transition_of(invoice: &Invoice) -> InvoiceTransition {
    match (invoice.amount_paid, invoice.total_amount_due) {
        (0, _) => InvoiceTransition::NonePaid,
        (_, due) if due > 0 => InvoiceTransition::PartPaid,
        (_, _) => InvoiceTransition::FullyPaid,
    }
}
