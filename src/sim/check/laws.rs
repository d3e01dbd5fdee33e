//! Checks laws 1 to 4 by calls and applications.
//!
//! Every call had an intent, every deletion was intended, and every differing answer puts its
//! resource on hold. A storm meets few calls, and everything settles soon after it
//! (docs/reference/errors.md).
//!
//! Applications end as the service decided, whatever happened to its webhooks, and a person approves
//! each live merchant of an application before any effect on it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::api::call::Method;
use crate::base::hash::Mark;
use crate::base::id::Mode;
use crate::kinds::planning::step::MERCHANT;
use crate::model::effect::is_action;
use crate::model::intent::{Intent, IntentProgress};
use crate::model::record::Record;
use crate::sim::check::evidence::{RunEvidence, Violation, Violations, is_complete};
use crate::sim::machine::journal::{DurableRecord, IntentHistory, name_of};
use crate::sim::plan::chance::{AMOUNTS, CallFault};
use crate::sim::plan::documents::{Doc, DocBody, DocTree};
use crate::sim::plan::parts::add;
use crate::sim::plan::trouble::{StormAnswer, StormScope};
use crate::sim::plan::world_parts;
use crate::sim::service::control::{find, text};
use crate::sim::service::frontend::Arrival;
use crate::sim::service::post_office::FORGED;
use crate::sim::service::weather::StormStretch;

/// Checks law 1: a durable record allowed every changing request when it arrived.
pub(crate) fn check_call_intents(evidence: &RunEvidence<'_>, found: &mut Violations) {
    for arrival in evidence.arrivals.iter().filter(|one| one.effect.is_none() || !one.explained) {
        let (method, path, name) = &arrival.name;
        let text =
            format!("{method} {path} {name} arrived at {} without a durable intent", arrival.at);
        found.push(Violation::new("law 1", text));
    }
}

/// Checks law 2. A deletion or an end needs a document that declared it and is gone, in a complete
/// tree.
pub(crate) fn check_deletions(evidence: &RunEvidence<'_>, found: &mut Violations) {
    let ends = |effect: &str| world_parts::REMOVAL_EFFECTS.contains(&effect);
    let deletes = |intent: &Intent| intent.request.method == Method::Delete || ends(&intent.effect);
    let asked = evidence.histories.iter().filter(|story| !is_action(&story.intent.key));
    for story in asked.filter(|story| deletes(&story.intent)) {
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
fn check_deletion_targets(evidence: &RunEvidence<'_>, found: &mut Violations) {
    let of = |effects: [&'static str; 2]| {
        let all = evidence.arrivals.iter();
        all.filter(move |one| one.effect.is_some_and(|effect| effects.contains(&effect)))
    };
    for arrival in of(["card.delete", "bank.delete"]) {
        let id = arrival.name.1.rsplit('/').next().unwrap_or_default();
        if !of(["card.save", "bank.save"]).any(|one| text(&one.reply, "id") == id) {
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
pub(crate) fn check_differing_answers(evidence: &RunEvidence<'_>, found: &mut Violations) {
    for (place, arrival) in evidence.arrivals.iter().enumerate() {
        let altered = arrival.fault == Some(CallFault::OtherAmount) && arrival.status == 200;
        if !altered || !names_amount(arrival) {
            continue;
        }
        let mut later = evidence.arrivals.iter().skip(place.saturating_add(1));
        if later.any(|other| other.name == arrival.name) {
            continue;
        }
        let asked = |story: &&IntentHistory| {
            name_of(&story.intent) == arrival.name && story.intent.at <= arrival.at
        };
        let Some(story) = evidence.histories.iter().rfind(asked) else { continue };
        let ends = |progress: &IntentProgress| {
            matches!(progress, IntentProgress::OnHold { .. } | IntentProgress::Done { .. })
        };
        let mut later = story.progress.iter().filter(|(at, _)| *at >= arrival.at);
        // If the intent was on hold first, a person resolved it.
        let Some((done, IntentProgress::Done { .. })) = later.find(|(_, one)| ends(one)) else {
            continue;
        };
        if evidence.deaths.iter().any(|death| (arrival.at..=*done).contains(death)) {
            continue;
        }
        let key = &story.intent.key;
        let text =
            format!("the service answered {key} with another amount, and the intent is settled");
        found.push(Violation::new("law 4", text));
    }
}

/// Returns true if a request names an amount itself.
fn names_amount(arrival: &Arrival) -> bool {
    let mut fields = AMOUNTS.iter().filter(|(effect, _)| Some(*effect) == arrival.effect);
    fields.any(|(effect, field)| *effect != "recurring.change" || arrival.body.get(field).is_some())
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
pub(crate) fn check_storms(evidence: &RunEvidence<'_>, found: &mut Violations) {
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

impl RunEvidence<'_> {
    /// Returns the service's decision on the newest submission of an application, and whether its
    /// webhook reached us.
    fn decision(&self, doc: &Doc) -> Option<(&str, bool)> {
        let mark = doc.mark(doc.generation)?;
        let state = text(self.application(&mark)?, "state");
        let event = match state {
            "provisioned" => "merchant.provisioned",
            _ => "merchant_application.declined",
        };
        Some((state, !self.lost_webhooks.contains(&format!("{mark} {event}"))))
    }

    /// Returns true if every webhook of the submission with this mark was lost for good.
    pub(crate) fn never_delivered(&self, mark: &Mark) -> bool {
        let application = self.application(mark);
        let approved = application.is_some_and(|one| text(one, "state") == "provisioned");
        let declined = !approved || self.script.net.delayed_decision.is_some();
        let lost = |event: &str| self.lost_webhooks.contains(&format!("{mark} {event}"));
        (!approved || lost("merchant.provisioned"))
            && (!declined || lost("merchant_application.declined"))
    }

    pub(crate) fn application(&self, mark: &Mark) -> Option<&Value> {
        find(&self.objects.applications, "reference", mark.as_str())
    }

    /// Returns true if a document waits for an application that was not approved, or whose webhook
    /// never arrived.
    pub(crate) fn awaits_underwriting(&self, doc: &Doc) -> bool {
        self.with_needs(doc).iter().any(|need| {
            matches!(need.body, DocBody::Application { .. })
                && self.decision(need).is_some_and(|decided| decided != ("provisioned", true))
        })
    }
}

/// Checks that the engine reports the service's decision on each application, as far as its webhook
/// arrived.
pub(crate) fn check_decisions(evidence: &RunEvidence<'_>, found: &mut Violations) {
    let Some(files) = evidence.files() else { return };
    let applications = files.values().filter(|doc| doc.kind() == "MerchantApplication");
    for doc in applications.filter(|doc| !evidence.is_on_hold(doc)) {
        let Some((state, true)) = evidence.decision(doc) else { continue };
        let Some(view) = evidence.view(doc) else { continue };
        let fits = match state {
            "provisioned" => view.ready,
            "declined" => view.reason == "Declined",
            _ => true,
        };
        if !fits {
            let text =
                format!("{} is {state}, and the engine reports {}", doc.address(), view.reason);
            found.push(Violation::new("law 3", text));
        }
    }
}

/// Checks that a code connects its merchant once, and that a code that the service did not issue is
/// never tried.
pub(crate) fn check_codes(evidence: &RunEvidence<'_>, found: &mut Violations) {
    let mut times: BTreeMap<&str, u32> = BTreeMap::new();
    for arrival in evidence.arrivals_of("code.exchange") {
        let code = text(&arrival.body, "code");
        if code == FORGED {
            found.push(Violation::new("law 3", "a forged code was tried".to_owned()));
        }
        add(&mut times, code, u32::from(arrival.status == 200));
    }
    for (_, times) in times.into_iter().filter(|(_, times)| *times > 1) {
        found.push(Violation::new("law 5", format!("one code was exchanged {times} times")));
    }
}

/// Reports every intent on a live merchant before a person's approval of that merchant. Returns the
/// number of approved merchants.
pub(crate) fn check_approvals(entries: &[DurableRecord], found: &mut Violations) -> usize {
    let mut approved = BTreeSet::new();
    for entry in entries {
        if let Record::Approval(approval) = &entry.record {
            approved.insert(&approval.binding.merchant);
        }
        let Record::Intent(intent) = &entry.record else { continue };
        let live = intent.mode == Mode::Live && intent.merchant.kind.as_str() == MERCHANT;
        // Without the code there is nothing to approve.
        if live && intent.effect != "code.exchange" && !approved.contains(&intent.merchant) {
            let text = format!("{} of {} began before any approval", intent.effect, intent.key);
            found.push(Violation::new("approval", text));
        }
    }
    approved.len()
}
