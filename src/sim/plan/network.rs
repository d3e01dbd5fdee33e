//! Behaviour of the network beyond single calls, decided before a run. It covers misdelivered
//! webhooks and posts of events, underwriting that decides twice, storms of the service, and lists
//! that change while they are read.
//!
//! The module draws from dice of its own, so that the files, faults and crashes of a seed stay as
//! they are.

use std::fmt;

use crate::sim::plan::dice::Dice;
use crate::sim::plan::documents::{DocBody, DocTree};
use crate::sim::plan::parts::{remove_nth, remove_one};
use crate::sim::plan::trouble::{self, PagingPlan, Storm};

const DICE: u64 = 10;
/// Application webhooks of one run that may be misdelivered: far more than a run has.
const WEBHOOKS_MAX: u64 = 6;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NetBehaviour {
    pub misdelivered: Vec<Misdelivery>,
    /// Delayed decisions of underwriting; `None` if underwriting decides by itself, once.
    pub delayed_decision: Option<DelayedDecision>,
    pub storms: Vec<Storm>,
    /// `None` for whole lists.
    pub paging: Option<PagingPlan>,
    /// Misdelivered posts of merchants' events; `None` if events are neither posted nor read.
    pub gateway: Option<Vec<Misdelivery>>,
}

/// Underwriting that declines every application at first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DelayedDecision {
    /// Seconds after which underwriting approves the declined application; `None` for never.
    pub approves_after_s: Option<u64>,
}

impl NetBehaviour {
    pub(crate) fn new(seed: u64, files: &DocTree) -> Self {
        let mut dice = Dice::new(seed, DICE);
        let applies = files.values().any(|doc| matches!(doc.body, DocBody::Application { .. }));
        let mut net = Self::default();
        if applies && dice.percent(45) {
            net.delayed_decision = dice.percent(60).then(|| {
                let approves = dice.percent(80);
                DelayedDecision { approves_after_s: approves.then(|| dice.between(2, 400)) }
            });
            net.misdelivered = draw_misdelivered(net.delayed_decision, &mut dice);
        }
        let storms = if dice.percent(35) { dice.between(1, 2) } else { 0 };
        net.storms = (0..storms).map(|_| trouble::draw_storm(&mut dice)).collect();
        net.paging = trouble::draw_paging(&mut dice);
        let mut dice = Dice::new(seed, EVENT_DICE);
        net.gateway = dice.percent(EVENT_WORLDS).then(|| draw_event_posts(&mut dice));
        net
    }

    /// Removes the `nth` part; the paging of lists and the posting of events come after their own
    /// parts.
    pub(crate) fn remove_part(&mut self, nth: &mut usize) -> bool {
        let Self { misdelivered, delayed_decision, storms, paging, gateway } = self;
        remove_nth(misdelivered, nth)
            || remove_nth(storms, nth)
            || paging.as_mut().is_some_and(|paging| remove_nth(&mut paging.shifts, nth))
            || remove_one(paging, nth)
            || remove_one(delayed_decision, nth)
            || gateway.as_mut().is_some_and(|posts| remove_nth(posts, nth))
            || remove_one(gateway, nth)
    }
}

/// Draws the misdelivered webhooks. If underwriting decides twice, the second webhook often
/// overtakes the first.
fn draw_misdelivered(thoughts: Option<DelayedDecision>, dice: &mut Dice) -> Vec<Misdelivery> {
    let second = thoughts.and_then(|thoughts| thoughts.approves_after_s).unwrap_or(0);
    let mut misdeliveries = Vec::new();
    for nth in 1..=WEBHOOKS_MAX {
        let Some(detour) = dice.pick(DETOURS).copied().filter(|_| dice.percent(50)) else {
            continue;
        };
        let detour = if second > 0 && dice.percent(40) { Detour::Late } else { detour };
        let seconds = match dice.below(3) {
            0 => dice.between(1, 90),
            1 => second.saturating_add(dice.between(10, 900)),
            _ => dice.between(1_800, 7_200),
        };
        misdeliveries.push(Misdelivery { nth, detour, seconds });
    }
    misdeliveries
}

impl fmt::Display for NetBehaviour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.misdelivered.iter().try_for_each(|one| writeln!(f, "post    {one}"))?;
        self.storms.iter().try_for_each(|storm| writeln!(f, "storm   {storm}"))?;
        self.paging.iter().try_for_each(|paging| write!(f, "{paging}"))?;
        if let Some(posts) = &self.gateway {
            writeln!(f, "events  are posted")?;
            posts.iter().try_for_each(|misdelivery| writeln!(f, "event   {misdelivery}"))?;
        }
        let Some(DelayedDecision { approves_after_s }) = self.delayed_decision else {
            return Ok(());
        };
        let then = approves_after_s.map(|seconds| format!(", and approved {seconds} s later"));
        writeln!(f, "decide  every application is declined{}", then.unwrap_or_default())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detour {
    Doubled,
    Echoed,
    Missed,
    /// Another party takes it, and it is never delivered.
    Swallowed,
    /// It is delivered late, so that newer ones may overtake it.
    Late,
    Forged,
}

/// Every detour; the one after which the content is lost for good is rare.
pub const DETOURS: &[Detour] = &[
    Detour::Doubled,
    Detour::Echoed,
    Detour::Missed,
    Detour::Late,
    Detour::Late,
    Detour::Forged,
    Detour::Swallowed,
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Misdelivery {
    /// Number among the webhooks of different content, from 1.
    pub nth: u64,
    pub detour: Detour,
    /// Delay in seconds, if the detour has one.
    pub seconds: u64,
}

impl fmt::Display for Misdelivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { nth, detour, seconds } = self;
        match detour {
            Detour::Doubled => write!(f, "webhook {nth} comes twice"),
            Detour::Echoed => write!(f, "webhook {nth} comes again after {seconds} s"),
            Detour::Missed => write!(f, "webhook {nth} is lost until it is sent again"),
            Detour::Swallowed => write!(f, "webhook {nth} never comes"),
            Detour::Late => write!(f, "webhook {nth} comes {seconds} s late"),
            Detour::Forged => write!(f, "forged webhooks come before webhook {nth}"),
        }
    }
}

pub(crate) const EVENT_DICE: u64 = 12;

/// Worlds in which events are posted, in percent of the worlds with network behaviour beyond single
/// calls.
const EVENT_WORLDS: u64 = 30;
/// Posts of one run that may be misdelivered: about as many as a run has.
const POSTS: u64 = 60;
const MISDELIVERED_PERCENT: u64 = 40;

/// Detours of posts. Every post may be missed, since the list of events shows its event all the
/// same.
const EVENT_DETOURS: &[Detour] = &[
    Detour::Doubled,
    Detour::Echoed,
    Detour::Missed,
    Detour::Late,
    Detour::Late,
    Detour::Forged,
    Detour::Forged,
    Detour::Swallowed,
];

pub(crate) fn draw_event_posts(dice: &mut Dice) -> Vec<Misdelivery> {
    let misdelivery = |nth| {
        let detour = dice.pick(EVENT_DETOURS).copied()?;
        let seconds = match dice.below(4) {
            0 | 1 => dice.between(1, 90),
            2 => dice.between(100, 900),
            _ => dice.between(1_800, 7_200),
        };
        dice.percent(MISDELIVERED_PERCENT).then_some(Misdelivery { nth, detour, seconds })
    };
    (1..=POSTS).filter_map(misdelivery).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::plan::parts::count_parts;

    #[test]
    fn everything_that_the_net_does_can_be_left_out_by_its_number() {
        let nets = (1..200).map(|seed| NetBehaviour::new(seed, &DocTree::new()));
        for net in nets.filter(|net| net.gateway.is_some()) {
            let part_count = |net: &NetBehaviour| count_parts(|nth| net.clone().remove_part(nth));
            for nth in 0..part_count(&net) {
                let mut less = net.clone();
                assert!(less.remove_part(&mut { nth }), "{nth} of\n{net}");
                assert!(less != net && part_count(&less) < part_count(&net), "{nth} of\n{net}");
            }
            let (mut beyond, mut same) = (part_count(&net), net.clone());
            assert!(!same.remove_part(&mut beyond), "{net}");
            assert_eq!((same, beyond), (net.clone(), 0), "{net}");
        }
    }
}
