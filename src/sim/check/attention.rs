//! Share of intents that needed a person, by effect, with the reason for which their result could
//! not be proved.
//!
//! An intent counts if it was ever on hold, even if a person settled it later. An answer that named
//! another amount puts an intent on hold by law 4, whatever the service shows, and is counted
//! apart.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;
use serde_with::SerializeDisplay;

use crate::sandbox::options::ServiceSurface;
use crate::sim::check::evidence::{RunEvidence, Violation, Violations};
use crate::sim::plan::parts::add;

/// Reason of all holds that a restored backup causes.
const RESTORED: &str = "a backup was restored, and the object may have been made in between";
/// Start of a hold's reason if the answer differs from the request (law 4).
pub(crate) const DIFFERS: &str = "the answer is not what was asked";

/// Effects that never need a person on a service that shows everything, since the service proves
/// the result of each.
pub const PROVABLE: &[&str] = &[
    "invoice.create",
    "card.save",
    "card.change",
    "card.delete",
    "bank.save",
    "bank.change",
    "bank.delete",
    "charge.create",
    "charge.recur",
    "charge.capture",
    "charge.refund",
    "transaction.void",
    "occurrence.pay",
    "occurrence.ignore",
    "account.change",
    "ach_account.change",
    "recurring.delete",
];

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AttentionShare {
    pub intents: u32,
    /// Intents that were ever on hold because their result could not be proved.
    pub needed_a_person: u32,
    /// Those of `needed_a_person` after the state was lost. The next state does not know what
    /// another state did meanwhile.
    pub after_a_loss: u32,
    /// `needed_a_person` in percent of `intents`, with two decimals, rounded down.
    #[schemars(with = "String")]
    pub percent: SharePercent,
    /// Intents that were on hold because the answer named another amount.
    pub other_amount: u32,
    /// Intents still on hold at the end, for either reason.
    #[serde(rename = "held")]
    pub on_hold: u32,
    /// Reasons of the missing proof, in the words of the holds, with their counts.
    #[serde(rename = "why")]
    pub reasons: BTreeMap<String, u32>,
}

/// Hundredths of a percent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, SerializeDisplay)]
pub struct SharePercent(u64);

pub type Shares = BTreeMap<String, AttentionShare>;

pub(crate) fn count_intents(evidence: &RunEvidence<'_>) -> Shares {
    let mut shares = Shares::new();
    for story in evidence.histories {
        let share = shares.entry(story.intent.effect.clone()).or_default();
        share.intents = share.intents.saturating_add(1);
        share.on_hold = share.on_hold.saturating_add(u32::from(story.hold_reason().is_some()));
        let Some(reason) = story.hold_reasons().flatten().next() else { continue };
        // An occurrence's amount may also change between the baseline and the call, which names no
        // amount.
        let altered = evidence.has_other_amount(story) || story.intent.effect == "occurrence.pay";
        if altered && reason.starts_with(DIFFERS) {
            share.other_amount = share.other_amount.saturating_add(1);
            continue;
        }
        share.needed_a_person = share.needed_a_person.saturating_add(1);
        let lost = u32::from(!evidence.lost.is_empty());
        share.after_a_loss = share.after_a_loss.saturating_add(lost);
        // Without the details of a single intent.
        let first = reason.split(':').next().unwrap_or(reason);
        let first = if first.starts_with("epoch ") { RESTORED } else { first };
        add(&mut share.reasons, first.to_owned(), 1);
    }
    shares.values_mut().for_each(AttentionShare::compute_percent);
    shares
}

/// Reports every provable effect that needed a person on a service that shows everything, unless
/// the state was lost.
pub(crate) fn check_provable(surface: ServiceSurface, shares: &Shares, found: &mut Violations) {
    for effect in PROVABLE {
        let Some(share) = shares.get(*effect) else { continue };
        if surface == ServiceSurface::Public && share.needed_a_person > share.after_a_loss {
            let text =
                format!("{effect} needed a person on a service that shows everything: {share}");
            found.push(Violation::new("proof", text));
        }
    }
}

impl AttentionShare {
    pub(crate) fn add(&mut self, other: &Self) {
        self.intents = self.intents.saturating_add(other.intents);
        self.needed_a_person = self.needed_a_person.saturating_add(other.needed_a_person);
        self.after_a_loss = self.after_a_loss.saturating_add(other.after_a_loss);
        self.other_amount = self.other_amount.saturating_add(other.other_amount);
        self.on_hold = self.on_hold.saturating_add(other.on_hold);
        for (reason, count) in &other.reasons {
            add(&mut self.reasons, reason.clone(), *count);
        }
        self.compute_percent();
    }

    fn compute_percent(&mut self) {
        let part = u64::from(self.needed_a_person).saturating_mul(10_000);
        self.percent = SharePercent(part.checked_div(u64::from(self.intents)).unwrap_or(0));
    }
}

impl fmt::Display for SharePercent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = self.0.checked_div(100).unwrap_or(0);
        let hundredths = self.0.checked_rem(100).unwrap_or(0);
        f.pad(&format!("{whole}.{hundredths:02}"))
    }
}

impl fmt::Display for AttentionShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>9}  {:>7}  ", self.intents, self.needed_a_person)?;
        write!(f, "{:>12}  {:>8}  ", self.after_a_loss, self.percent)?;
        write!(f, "{:>12}  {:>10}", self.other_amount, self.on_hold)?;
        let mut before = "  ";
        for (reason, count) in &self.reasons {
            write!(f, "{before}{reason} ({count})")?;
            before = "; ";
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(intents: u32, needed_a_person: u32) -> AttentionShare {
        let mut share = AttentionShare { intents, needed_a_person, ..AttentionShare::default() };
        share.compute_percent();
        share
    }

    #[test]
    fn shares_are_exact_and_add_up() {
        assert_eq!(share(3, 1).percent.to_string(), "33.33");
        assert_eq!(share(20_000, 1).percent.to_string(), "0.00");
        assert_eq!(share(0, 0).percent.to_string(), "0.00");
        let mut both = share(3, 1);
        both.add(&share(1, 0));
        assert_eq!((both.intents, both.percent.to_string()), (4, "25.00".to_owned()));
    }

    #[test]
    fn what_can_be_proved_needs_nobody_on_the_whole_surface_alone() {
        let shares = |effect: &str| Shares::from([(effect.to_owned(), share(9, 1))]);
        let count = |surface, effect| {
            let mut found = Vec::new();
            check_provable(surface, &shares(effect), &mut found);
            found.len()
        };
        assert_eq!(count(ServiceSurface::Public, "card.save"), 1);
        assert_eq!(count(ServiceSurface::Public, "contact.create"), 0);
        assert_eq!(count(ServiceSurface::Documented, "card.save"), 0);
    }
}
