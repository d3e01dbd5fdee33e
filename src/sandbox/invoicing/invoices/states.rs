//! States of an invoice and their transitions (partner-api: pending at creation, no transitions
//! shown). The state follows the invoice's payments: their total without returned and voided money
//! decides.

use crate::sandbox::http::refusal::SandboxRefusal;

/// State of an invoice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InvoiceState {
    Pending,
    PartiallyPaid,
    Paid,
}

/// A transition of an invoice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InvoiceTransition {
    /// A payer pays everything that is due.
    Pay,
    /// No payment counts.
    NonePaid,
    /// The payments that count are less than the total.
    PartPaid,
    /// The payments that count cover the total.
    FullyPaid,
}

/// Returns the state after a change.
///
/// # Errors
///
/// 422 for a change that the state does not allow.
pub(crate) fn after(
    state: InvoiceState,
    change: InvoiceTransition,
) -> Result<InvoiceState, SandboxRefusal> {
    match (state, change) {
        (
            InvoiceState::Pending | InvoiceState::PartiallyPaid | InvoiceState::Paid,
            InvoiceTransition::NonePaid,
        ) => Ok(InvoiceState::Pending),
        (
            InvoiceState::Pending | InvoiceState::PartiallyPaid | InvoiceState::Paid,
            InvoiceTransition::PartPaid,
        ) => Ok(InvoiceState::PartiallyPaid),
        (InvoiceState::Pending | InvoiceState::PartiallyPaid, InvoiceTransition::Pay)
        | (
            InvoiceState::Pending | InvoiceState::PartiallyPaid | InvoiceState::Paid,
            InvoiceTransition::FullyPaid,
        ) => Ok(InvoiceState::Paid),
        (InvoiceState::Paid, InvoiceTransition::Pay) => {
            let text = "This invoice is paid already";
            Err(SandboxRefusal::rule("unavailable_for_current_status", text))
        }
    }
}

impl InvoiceState {
    /// Parses the status of a stored invoice.
    pub(crate) fn of(word: &str) -> Result<Self, SandboxRefusal> {
        let all = [Self::Pending, Self::PartiallyPaid, Self::Paid];
        all.into_iter()
            .find(|state| state.as_str() == word)
            .ok_or_else(SandboxRefusal::server_error)
    }

    /// Returns the status that an invoice shows.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::PartiallyPaid => "partially_paid",
            Self::Paid => "paid",
        }
    }
}
