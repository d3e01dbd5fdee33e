//! Share of intents that needed a person, by effect, with the reason for which their result could
//! not be proved.
//!
//! An intent counts if it was ever on hold, even if a person settled it later. An answer that named
//! another amount puts an intent on hold by law 4, whatever the service shows, and is counted
//! apart.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Serialize, Serializer};

use super::check::{Evidence, Violation};
use super::durable::{Story, name_of};
use super::faults::Fault;
use crate::model::intent::Progress;
use crate::sandbox::Surface;

/// Reason of all holds that a restored backup causes.
const RESTORED: &str = "a backup was restored, and nothing tells whether it was made in between";

/// Start of a hold's reason if the answer differs from the request (law 4).
pub(super) const DIFFERS: &str = "the answer is not what was asked";

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

/// Counts of the intents of one effect.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Share {
    pub intents: u32,
    /// Intents that were ever on hold because their result could not be proved.
    pub needed_a_person: u32,
    /// Those of `needed_a_person` after the state was lost. The next state does not know what
    /// another state did meanwhile.
    pub after_a_loss: u32,
    /// `needed_a_person` in percent of `intents`, with two decimals, rounded down.
    pub percent: Percent,
    /// Intents that were on hold because the answer named another amount.
    pub other_amount: u32,
    /// Intents still on hold at the end, for either reason.
    pub held: u32,
    /// Reasons of the missing proof, in the words of the holds, with their counts.
    pub why: BTreeMap<String, u32>,
}

/// Hundredths of a percent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Percent(u64);

/// Counts of all intents, by effect.
pub type Shares = BTreeMap<String, Share>;

/// Counts the intents of one run.
pub(super) fn count(evidence: &Evidence<'_>) -> Shares {
    let mut shares = Shares::new();
    for story in evidence.stories {
        let share = shares.entry(story.intent.effect.clone()).or_default();
        share.intents = share.intents.saturating_add(1);
        share.held = share.held.saturating_add(u32::from(story.held().is_some()));
        let Some(reason) = needed(story) else { continue };
        // An occurrence's amount may also change between the baseline and the call, which names no
        // amount.
        let altered = is_altered(evidence, story) || story.intent.effect == "occurrence.pay";
        if altered && reason.starts_with(DIFFERS) {
            share.other_amount = share.other_amount.saturating_add(1);
            continue;
        }
        share.needed_a_person = share.needed_a_person.saturating_add(1);
        let lost = u32::from(!evidence.lost.is_empty());
        share.after_a_loss = share.after_a_loss.saturating_add(lost);
        let often = share.why.entry(short(reason).to_owned()).or_default();
        *often = often.saturating_add(1);
    }
    shares.values_mut().for_each(Share::divide);
    shares
}

/// Returns a reason without the details of a single intent.
fn short(reason: &str) -> &str {
    let first = reason.split(':').next().unwrap_or(reason);
    if first.starts_with("epoch ") { RESTORED } else { first }
}

/// Returns the first reason for which an intent was on hold, if it ever was.
fn needed(story: &Story) -> Option<&str> {
    story.progress.iter().find_map(|(_, progress)| match progress {
        Progress::Held { reason, observation: _ } => Some(reason.as_str()),
        Progress::Again
        | Progress::Doubt { .. }
        | Progress::Done { .. }
        | Progress::Refused { .. }
        | Progress::NotSent { .. }
        | Progress::GivenUp { .. } => None,
    })
}

/// Returns true if an answer to the intent's request named another amount.
fn is_altered(evidence: &Evidence<'_>, story: &Story) -> bool {
    let name = name_of(&story.intent);
    let mut altered = evidence.arrivals.iter().filter(|one| one.fault == Some(Fault::OtherAmount));
    altered.any(|arrival| arrival.name == name)
}

/// Reports every provable effect that needed a person on a service that shows everything, unless
/// the state was lost.
pub(super) fn provable(surface: Surface, shares: &Shares, found: &mut Vec<Violation>) {
    for effect in PROVABLE {
        let Some(share) = shares.get(*effect) else { continue };
        if surface == Surface::Public && share.needed_a_person > share.after_a_loss {
            let text = format!("{effect} needed a person although everything shows: {share}");
            found.push(Violation::new("proof", text));
        }
    }
}

/// Name of the surface in reports.
pub(super) fn word(surface: Surface) -> &'static str {
    match surface {
        Surface::Public => "public",
        Surface::Documented => "documented",
    }
}

/// Adds the counts of one run.
pub(super) fn add(all: &mut Shares, run: &Shares) {
    for (effect, one) in run {
        all.entry(effect.clone()).or_default().add(one);
    }
}

impl Share {
    fn add(&mut self, other: &Self) {
        let Self { intents, needed_a_person, after_a_loss, percent: _, other_amount, held, why } =
            other;
        self.intents = self.intents.saturating_add(*intents);
        self.needed_a_person = self.needed_a_person.saturating_add(*needed_a_person);
        self.after_a_loss = self.after_a_loss.saturating_add(*after_a_loss);
        self.other_amount = self.other_amount.saturating_add(*other_amount);
        self.held = self.held.saturating_add(*held);
        for (reason, count) in why {
            let often = self.why.entry(reason.clone()).or_default();
            *often = often.saturating_add(*count);
        }
        self.divide();
    }

    fn divide(&mut self) {
        let part = u64::from(self.needed_a_person).saturating_mul(10_000);
        self.percent = Percent(part.checked_div(u64::from(self.intents)).unwrap_or(0));
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = self.0.checked_div(100).unwrap_or(0);
        let hundredths = self.0.checked_rem(100).unwrap_or(0);
        f.pad(&format!("{whole}.{hundredths:02}"))
    }
}

impl Serialize for Percent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { intents, needed_a_person, after_a_loss, percent, other_amount, held, why } =
            self;
        let needed = format!("{needed_a_person:>7}  {after_a_loss:>12}  {percent:>8}");
        write!(f, "{intents:>9}  {needed}  {other_amount:>12}  {held:>10}")?;
        let mut before = "  ";
        for (reason, count) in why {
            write!(f, "{before}{reason} ({count})")?;
            before = "; ";
        }
        Ok(())
    }
}

/// Writes the table of one surface, a line for each effect.
pub(super) fn table(surface: &str, shares: &Shares, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let heads = "intents   person  after a loss   percent  other amount  still held  why a person was needed";
    writeln!(f, "{surface:<22}    {heads}")?;
    shares.iter().try_for_each(|(effect, share)| writeln!(f, "  {effect:<22}{share}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(intents: u32, needed_a_person: u32) -> Share {
        let mut share = Share { intents, needed_a_person, ..Share::default() };
        share.divide();
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
            provable(surface, &shares(effect), &mut found);
            found.len()
        };
        assert_eq!(count(Surface::Public, "card.save"), 1);
        assert_eq!(count(Surface::Public, "contact.create"), 0);
        assert_eq!(count(Surface::Documented, "card.save"), 0);
    }
}
