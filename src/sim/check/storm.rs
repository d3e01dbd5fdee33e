//! A storm is met by few calls, and soon after it everything is settled (docs/errors.md).

use std::time::Duration;

use super::{Evidence, Violation};
use crate::sim::net::storm::{Gust, Whose};
use crate::sim::net::weather::Passed;

/// Failures in a row that shut a host, and as many more where answers from before the storm come between them.
const BEFORE_SHUT: u64 = 24;
/// Calls that may be on their way at once: the permits of the gate, and those that wait for one with a token.
const UNDER_WAY: u64 = 12;
/// Probes while the waits grow to two minutes; then no more than one in a minute.
const PROBES: u64 = 8;
/// Calls of one merchant before its limit is down at one in two seconds.
const BEFORE_SLOW: u64 = 40;
/// A limit grows by one call a second with each second, and each 429 halves it.
const SLOW_PER_S: u64 = 2;
/// Credentials that were refused are asked about so often, in seconds,
const ASKED_EVERY_S: u64 = 600;
/// by so many calls at most.
const ASKED_BY: u64 = 4;
/// Once all is quiet, everything is settled within this: the longest wait of the engine (five minutes), of the
/// breaker (two) and of a proof (one), several times over, since what is settled lets others begin.
const SETTLES_AFTER: Duration = Duration::from_hours(1);

/// The number of calls that a storm meets has a bound, and nobody comes before the time that was asked for.
pub(super) fn bounded(evidence: &Evidence<'_>, found: &mut Vec<Violation>) {
    for passed in evidence.storms {
        let storm = passed.storm;
        let bound = bound(passed);
        if passed.met > bound {
            let text = format!("{} calls in a storm, and {bound} is the most: {storm}", passed.met);
            found.push(Violation::new("storm", text));
        }
        if passed.early > UNDER_WAY {
            let text = format!("{} calls came before the time asked for: {storm}", passed.early);
            found.push(Violation::new("storm", text));
        }
    }
    if let Some(took) = evidence.took.filter(|took| *took > SETTLES_AFTER) {
        let text = format!("settled only {} s after all was quiet", took.as_secs());
        found.push(Violation::new("storm", text));
    }
}

/// The most calls that a stretch of a storm may meet.
fn bound(passed: &Passed) -> u64 {
    let seconds = passed.seconds;
    if passed.storm.gust == Gust::Refused {
        let asked = seconds.div_euclid(ASKED_EVERY_S).saturating_add(1).saturating_mul(ASKED_BY);
        return UNDER_WAY.saturating_add(asked).saturating_mul(passed.lives);
    }
    let each = match (passed.storm.gust, passed.storm.whose) {
        (Gust::Error | Gust::Reset, Whose::All) => {
            let probes = seconds.div_euclid(60).saturating_add(PROBES);
            let once = BEFORE_SHUT.saturating_add(UNDER_WAY).saturating_add(probes);
            return once.saturating_mul(passed.lives);
        }
        (_, Whose::Beyond(more)) => SLOW_PER_S.saturating_add(u64::from(more)),
        (_, Whose::All | Whose::Caller) => SLOW_PER_S,
    };
    let lanes = passed.callers.saturating_mul(passed.lives);
    let one = BEFORE_SLOW.saturating_add(each.saturating_mul(seconds));
    one.saturating_mul(lanes)
}
