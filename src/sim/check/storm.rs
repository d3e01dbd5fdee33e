//! Checks that a storm meets few calls, and that everything settles soon after it (docs/reference/errors.md).

use std::time::Duration;

use super::laws::{RunEvidence, Violation};
use crate::sim::net::storm::{StormAnswer, StormScope};
use crate::sim::net::weather::StormStretch;

/// Consecutive failures that open the breaker of a host, doubled for answers from before the storm
/// in between.
const BEFORE_OPEN: u64 = 24;
/// Calls that may be in flight at once: the gate's permits, and the calls that wait for one with a
/// token.
const IN_FLIGHT_MAX: u64 = 12;
/// Probes while the waits grow to two minutes; after that one probe a minute.
const PROBES: u64 = 8;
/// Calls of one merchant before its limit has fallen to one in two seconds.
const BEFORE_SLOW: u64 = 40;
/// The limit grows by one call a second each second, and each 429 halves it.
const SLOW_PER_S: u64 = 2;
/// Seconds between two checks of refused credentials.
const ASKED_EVERY_S: u64 = 600;
/// Most calls of one such check.
const ASKED_BY: u64 = 4;
/// Time within which everything settles after all faults. It is a multiple of the longest waits:
/// the engine's (five minutes), the breaker's (two) and a proof's (one). Each settled effect lets
/// others begin.
const SETTLES_AFTER: Duration = Duration::from_hours(1);

/// Checks that a storm meets a bounded number of calls, and that callers wait as long as requested.
pub(crate) fn check_storms(evidence: &RunEvidence<'_>, found: &mut Vec<Violation>) {
    for passed in evidence.storms {
        let storm = passed.storm;
        let bound = max_calls(passed);
        if passed.met > bound {
            let text =
                format!("{} calls in a storm, and the bound is {bound}: {storm}", passed.met);
            found.push(Violation::new("storm", text));
        }
        if passed.early > IN_FLIGHT_MAX {
            let text = format!("{} calls came before the requested time: {storm}", passed.early);
            found.push(Violation::new("storm", text));
        }
    }
    if let Some(took) = evidence.settling_time.filter(|took| *took > SETTLES_AFTER) {
        let text = format!("settled only {} s after the last fault", took.as_secs());
        found.push(Violation::new("storm", text));
    }
}

/// Returns the most calls that a stretch of a storm may meet.
fn max_calls(passed: &StormStretch) -> u64 {
    let seconds = passed.seconds;
    if passed.storm.answer == StormAnswer::Refused {
        let asked = seconds.div_euclid(ASKED_EVERY_S).saturating_add(1).saturating_mul(ASKED_BY);
        return IN_FLIGHT_MAX.saturating_add(asked).saturating_mul(passed.lives);
    }
    let each = match (passed.storm.answer, passed.storm.scope) {
        (StormAnswer::Error | StormAnswer::Reset, StormScope::All) => {
            let probes = seconds.div_euclid(60).saturating_add(PROBES);
            let once = BEFORE_OPEN.saturating_add(IN_FLIGHT_MAX).saturating_add(probes);
            return once.saturating_mul(passed.lives);
        }
        (_, StormScope::Beyond(more)) => SLOW_PER_S.saturating_add(u64::from(more)),
        (_, StormScope::All | StormScope::Caller) => SLOW_PER_S,
    };
    let lanes = passed.callers.saturating_mul(passed.lives);
    let one = BEFORE_SLOW.saturating_add(each.saturating_mul(seconds));
    one.saturating_mul(lanes)
}
