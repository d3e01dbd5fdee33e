//! Checks that a person approves each live merchant of an application before any effect on it.

use std::collections::BTreeSet;

use super::laws::Violation;
use crate::base::id::Mode;
use crate::kinds::planning::step::MERCHANT;
use crate::model::record::Record;
use crate::sim::machine::journal_decoder::DurableRecord;

/// The only effect before the approval; without it there is nothing to approve.
const BEFORE: &str = "code.exchange";

/// Reports every intent on a live merchant before a person's approval of that merchant. Returns the
/// number of approved merchants.
pub(in crate::sim) fn check_approvals(
    entries: &[DurableRecord],
    found: &mut Vec<Violation>,
) -> usize {
    let mut approved = BTreeSet::new();
    for entry in entries {
        if let Record::Approval(approval) = &entry.record {
            approved.insert(&approval.binding.merchant);
        }
        let Record::Intent(intent) = &entry.record else { continue };
        let live = intent.mode == Mode::Live && intent.merchant.kind.as_str() == MERCHANT;
        if live && intent.effect != BEFORE && !approved.contains(&intent.merchant) {
            let text = format!("{} of {} began before any approval", intent.effect, intent.key);
            found.push(Violation::new("approval", text));
        }
    }
    approved.len()
}
