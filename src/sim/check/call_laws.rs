//! Checks laws 1, 2 and 4: every call had an intent, every deletion was intended, and every
//! differing answer puts its resource on hold. A storm meets few calls, and everything settles soon
//! after it (docs/reference/errors.md).

use std::time::Duration;

use chrono::{DateTime, Utc};

use super::evidence::{RunEvidence, Violation, is_complete};
use crate::model::action::is_action;
use crate::model::intents::intent::IntentProgress;
use crate::sim::machine::journal_decoder::name_of;
use crate::sim::plan::documents::DocTree;
use crate::sim::plan::faults::{AMOUNTS, CallFault};
use crate::sim::plan::storms::{StormAnswer, StormScope};
use crate::sim::plan::world_parts;
use crate::sim::service::control::text;
use crate::sim::service::frontend::Arrival;
use crate::sim::service::weather::StormStretch;

/// Checks law 1: a durable record allowed every changing request when it arrived.
pub(crate) fn check_call_intents(evidence: &RunEvidence<'_>, found: &mut Vec<Violation>) {
    for arrival in evidence.arrivals.iter().filter(|one| one.effect.is_none() || !one.explained) {
        let (method, path, name) = &arrival.name;
        let text =
            format!("{method} {path} {name} arrived at {} without a durable intent", arrival.at);
        found.push(Violation::new("law 1", text));
    }
}

/// Checks law 2. A deletion or an end needs a document that declared it and is gone, in a complete
/// tree.
pub(crate) fn check_deletions(evidence: &RunEvidence<'_>, found: &mut Vec<Violation>) {
    let ends = |effect: &str| world_parts::REMOVAL_EFFECTS.contains(&effect);
    let asked = evidence.histories.iter().filter(|story| !is_action(&story.intent.key));
    for story in asked.filter(|story| {
        story.intent.request.method.as_str() == "DELETE" || ends(&story.intent.effect)
    }) {
        let name = story.document();
        let then = trees_at(evidence, story.intent.at);
        let said = evidence.versions(name).iter().any(|doc| doc.declares_removal());
        let why = if !said {
            "its document never declared `deletion: delete`"
        } else if then.iter().all(|tree| tree.contains_key(name)) {
            "its document existed"
        } else if !then.iter().any(|tree| !tree.contains_key(name) && is_complete(tree)) {
            "some document was invalid, so pruning was not allowed"
        } else {
            continue;
        };
        let text = format!("an intent deletes {} at {}: {why}", story.intent.key, story.intent.at);
        found.push(Violation::new("law 2", text));
    }
    check_deletion_targets(evidence, found);
}

/// Checks that a deletion reaches only objects that we made.
fn check_deletion_targets(evidence: &RunEvidence<'_>, found: &mut Vec<Violation>) {
    let is = |arrival: &Arrival, effects: [&str; 2]| {
        arrival.effect.is_some_and(|effect| effects.contains(&effect))
    };
    let deletions = evidence.arrivals.iter().filter(|one| is(one, ["card.delete", "bank.delete"]));
    for arrival in deletions {
        let id = arrival.name.1.rsplit('/').next().unwrap_or_default();
        let made = evidence
            .arrivals
            .iter()
            .any(|one| is(one, ["card.save", "bank.save"]) && text(&one.reply, "id") == id);
        if !made {
            found.push(Violation::new("law 2", format!("{id} was deleted and is not ours")));
        }
    }
}

/// Returns the files at a moment; two trees if they changed in that very moment.
fn trees_at<'a>(evidence: &RunEvidence<'a>, at: DateTime<Utc>) -> Vec<&'a DocTree> {
    let next = evidence.history.iter().skip(1).map(|(from, _)| *from);
    let ends = next.chain([DateTime::<Utc>::MAX_UTC]);
    let spans = evidence.history.iter().zip(ends);
    spans.filter(|((from, _), to)| *from <= at && at <= *to).map(|((_, tree), _)| tree).collect()
}

/// Checks law 4: an answer that differs from the request puts its resource on hold.
pub(crate) fn check_differing_answers(evidence: &RunEvidence<'_>, found: &mut Vec<Violation>) {
    for (place, arrival) in evidence.arrivals.iter().enumerate() {
        if arrival.fault != Some(CallFault::OtherAmount)
            || arrival.status != 200
            || !names_amount(arrival)
        {
            continue;
        }
        let later = evidence.arrivals.iter().skip(place.saturating_add(1));
        if later.into_iter().any(|other| other.name == arrival.name) {
            continue;
        }
        let mut stories = evidence.histories.iter().rev();
        let story = stories
            .find(|story| name_of(&story.intent) == arrival.name && story.intent.at <= arrival.at);
        let Some(story) = story else { continue };
        let done = story
            .progress
            .iter()
            .find(|(at, progress)| *at >= arrival.at && is_settled_or_on_hold(progress))
            // If the intent was on hold first, a person resolved it.
            .filter(|(_, progress)| matches!(progress, IntentProgress::Done { .. }));
        let Some((done, _)) = done else { continue };
        if evidence.deaths.iter().any(|death| (arrival.at..=*done).contains(death)) {
            continue;
        }
        let text = format!(
            "the service answered {} with another amount, and the intent is settled",
            story.intent.key
        );
        found.push(Violation::new("law 4", text));
    }
}

/// Returns true if an intent is settled, or on hold until a person resolves it.
fn is_settled_or_on_hold(progress: &IntentProgress) -> bool {
    matches!(progress, IntentProgress::Done { .. } | IntentProgress::OnHold { .. })
}

/// Returns true if a request names an amount itself.
fn names_amount(arrival: &Arrival) -> bool {
    let field = AMOUNTS.iter().find(|(effect, _)| Some(*effect) == arrival.effect);
    match field {
        Some(("recurring.change", field)) => arrival.body.get(field).is_some(),
        Some(_) => true,
        None => false,
    }
}

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
