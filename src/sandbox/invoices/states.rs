//! States of an invoice and their transitions (partner-api: pending at creation, no transitions
//! shown). The state follows the invoice's payments: their total without returned and voided money
//! decides.

use crate::sandbox::refusal::Refusal;

/// State of an invoice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Pending,
    PartiallyPaid,
    Paid,
}

/// A transition of an invoice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// A payer pays everything that is due.
    Pay,
    /// No payment counts.
    NothingStands,
    /// The payments that count are less than the total.
    PartStands,
    /// The payments that count cover the total.
    AllStands,
}

/// Returns the state after a change.
///
/// # Errors
///
/// 422 for a change that the state does not allow.
pub(crate) fn after(state: State, change: Change) -> Result<State, Refusal> {
    match (state, change) {
        (State::Pending | State::PartiallyPaid | State::Paid, Change::NothingStands) => {
            Ok(State::Pending)
        }
        (State::Pending | State::PartiallyPaid | State::Paid, Change::PartStands) => {
            Ok(State::PartiallyPaid)
        }
        (State::Pending | State::PartiallyPaid, Change::Pay)
        | (State::Pending | State::PartiallyPaid | State::Paid, Change::AllStands) => {
            Ok(State::Paid)
        }
        (State::Paid, Change::Pay) => {
            let text = "This invoice is paid already";
            Err(Refusal::rule("unavailable_for_current_status", text))
        }
    }
}

impl State {
    /// Parses the status of a stored invoice.
    pub(crate) fn of(word: &str) -> Result<Self, Refusal> {
        let all = [Self::Pending, Self::PartiallyPaid, Self::Paid];
        all.into_iter().find(|state| state.as_str() == word).ok_or_else(Refusal::broken)
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
