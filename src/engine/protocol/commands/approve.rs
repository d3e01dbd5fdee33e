//! Approval of a live authorisation by a person: lists the waiting ones, and records the approval.
//!
//! An approval covers exactly the authorisation that was displayed. If the merchant now waits for
//! another one, or for none, nothing is written.

use crate::model::state::credentials::LiveBinding;

/// An approval on its way to the engine.
#[derive(Debug)]
pub struct ApproveLive {
    /// The authorisation that was displayed and is approved.
    pub binding: LiveBinding,
    pub actor: String,
}
