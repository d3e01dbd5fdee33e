//! Where an invoice stands, and what moves it (partner-api: pending at creation, no transitions shown). It follows its
//! payments: what they brought that nobody took back decides.

use crate::sandbox::refusal::Refusal;

/// Where an invoice stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Pending,
    PartiallyPaid,
    Paid,
}

/// What can happen to an invoice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// A payer pays all that is due.
    Pay,
    /// Nothing stands of its payments.
    NothingStands,
    /// Less stands of its payments than its total.
    PartStands,
    /// All of its total stands.
    AllStands,
}

/// Where a change leads; 422 where it is not valid for the state.
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
    /// The state behind the word of a stored invoice.
    pub(crate) fn of(word: &str) -> Result<Self, Refusal> {
        let all = [Self::Pending, Self::PartiallyPaid, Self::Paid];
        all.into_iter().find(|state| state.as_str() == word).ok_or_else(Refusal::broken)
    }

    /// The word that an invoice shows.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::PartiallyPaid => "partially_paid",
            Self::Paid => "paid",
        }
    }
}
