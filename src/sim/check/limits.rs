//! Checks limits. No run, day or merchant moves more than its limit and the amounts approved for
//! it. A step that a limit blocks at the end would really exceed it.
//!
//! The sums come from the requests and results of the service, not from the engine's own counts.

use std::collections::{BTreeMap, BTreeSet};

use chrono::NaiveDate;
use serde_json::Value;

use crate::api::call::Method;
use crate::model::intent::{Intent, IntentProgress};
use crate::model::operator::PlanApproval;
use crate::model::record::Record;
use crate::sim::check::evidence::{RunEvidence, Violation, Violations, is_valid};
use crate::sim::machine::journal::{DurableRecord, IntentHistory, name_of};
use crate::sim::plan::documents::{Doc, DocBody};
use crate::sim::plan::people::{LimitQuantity, SeenPlan, SimLimit};
use crate::sim::service::frontend::Arrival;

struct IntentExposure<'a> {
    intent: &'a Intent,
    happened: bool,
    amount: i64,
    deletes: i64,
    emails: i64,
}

impl IntentExposure<'_> {
    fn of(&self, what: LimitQuantity) -> i64 {
        match what {
            LimitQuantity::PerObject | LimitQuantity::PerRun | LimitQuantity::PerDay => self.amount,
            LimitQuantity::DeletesPerRun | LimitQuantity::DeletesPerDay => self.deletes,
            LimitQuantity::EmailsPerRun | LimitQuantity::EmailsPerDay => self.emails,
        }
    }
}

/// Reports every exceeded limit, except for approved steps.
pub(crate) fn check_limits(
    evidence: &RunEvidence<'_>,
    entries: &[DurableRecord],
    seen: &[SeenPlan],
) -> Violations {
    let mut found = Vec::new();
    let mut happened: Vec<_> =
        evidence.histories.iter().map(|one| exposure(evidence, one)).collect();
    happened.retain(|one| one.happened);
    let limits = &evidence.script.people.limits;
    for bound in limits {
        for (span, sum) in sums(evidence, bound, &happened) {
            if sum > bound.max {
                let text = format!("{} allows {}, and {span} moved {sum}", bound.name(), bound.max);
                found.push(Violation::new("limits", text));
            }
        }
    }
    for IntentExposure { intent, amount, .. } in happened.iter().filter(|_| !limits.is_empty()) {
        let counted: i64 = intent.exposure.sums().into_values().sum();
        if counted < *amount {
            let moved = format!("{} of {} moved {amount}", intent.effect, intent.key);
            let text = format!("{moved}, and its intent counted {counted}");
            found.push(Violation::new("limits", text));
        }
    }
    check_runs(evidence, &happened, &mut found);
    check_approvals(evidence, entries, seen, &happened, &mut found);
    found
}

fn exposure<'a>(evidence: &RunEvidence<'a>, story: &'a IntentHistory) -> IntentExposure<'a> {
    let arrivals = arrivals(evidence, story);
    let done = arrivals.iter().find(|one| one.succeeded()).copied();
    let asked = done.or(arrivals.first().copied()).map(|one| &one.body);
    let billed = done.and_then(|one| one.reply.get("total_amount"));
    let billed = billed.or_else(|| story.intent.expect.get("total_amount"));
    // The total of a recurring charge is the sum that it has collected so far.
    let billed = billed.filter(|_| story.intent.effect == "invoice.create");
    // If the request never arrived, only the expected answer names the amount.
    let said = asked.map_or_else(|| story.intent.expect.get("amount"), |asked| asked.get("amount"));
    IntentExposure {
        intent: &story.intent,
        happened: done.is_some(),
        amount: billed.or(said).and_then(Value::as_i64).unwrap_or(0),
        deletes: i64::from(story.intent.request.method == Method::Delete),
        emails: asked.map_or(0, mail_address_count),
    }
}

/// Returns the arrivals of an intent: all calls of its name until the next intent of that name.
fn arrivals<'a>(evidence: &RunEvidence<'a>, story: &IntentHistory) -> Vec<&'a Arrival> {
    let name = name_of(&story.intent);
    let same = evidence.histories.iter().filter(|one| name_of(&one.intent) == name);
    let next = same.filter(|one| one.intent.id > story.intent.id).map(|one| one.intent.at).min();
    let mine = evidence.arrivals.iter().filter(|one| one.name == name && one.at >= story.intent.at);
    mine.filter(|one| next.is_none_or(|next| one.at < next)).collect()
}

fn mail_address_count(asked: &Value) -> i64 {
    let messages = asked.get("invoice_messages").and_then(Value::as_array).into_iter().flatten();
    let lists = messages.filter_map(|message| message.get("email_addresses")?.as_array());
    i64::try_from(lists.map(Vec::len).sum::<usize>()).unwrap_or(i64::MAX)
}

/// Returns the sums that count against a limit, by span. Approved intents count against no limit.
fn sums(
    evidence: &RunEvidence<'_>,
    bound: &SimLimit,
    spent: &[IntentExposure<'_>],
) -> BTreeMap<String, i64> {
    let mut sums = BTreeMap::new();
    let counted = spent.iter().filter(|one| one.intent.exposure.approvals.is_empty());
    for one in counted.filter(|one| applies_to(evidence, bound, one.intent.merchant.name.as_str()))
    {
        let day = one.intent.at.date_naive();
        let span = match bound.what {
            LimitQuantity::PerObject => format!("{} {}", one.intent.effect, one.intent.id),
            LimitQuantity::PerDay | LimitQuantity::DeletesPerDay | LimitQuantity::EmailsPerDay => {
                day.to_string()
            }
            LimitQuantity::PerRun | LimitQuantity::DeletesPerRun | LimitQuantity::EmailsPerRun => {
                let Some(run) = &one.intent.exposure.run else { continue };
                format!("run {run}")
            }
        };
        let sum: &mut i64 = sums.entry(span).or_default();
        *sum = sum.saturating_add(one.of(bound.what));
    }
    sums
}

/// Returns true if a limit applies to a merchant. A merchant's own limit on single amounts replaces
/// the general one.
fn applies_to(evidence: &RunEvidence<'_>, bound: &SimLimit, merchant: &str) -> bool {
    let own =
        |other: &SimLimit| other.what == bound.what && other.merchant.as_deref() == Some(merchant);
    let is_replaced =
        || bound.what == LimitQuantity::PerObject && evidence.script.people.limits.iter().any(own);
    bound.merchant.as_ref().map_or_else(|| !is_replaced(), |only| only == merchant)
}

/// Checks that one state of the files on one day is one run, also across restarts. Intents of the
/// very moment in which the files changed are skipped, since they may belong to either state.
fn check_runs(evidence: &RunEvidence<'_>, spent: &[IntentExposure<'_>], found: &mut Violations) {
    let mut names: BTreeMap<(String, NaiveDate), &str> = BTreeMap::new();
    for one in spent {
        let Some(run) = &one.intent.exposure.run else { continue };
        let Some(tree) = tree_at(evidence, one.intent) else { continue };
        let name = names.entry((tree, one.intent.at.date_naive())).or_insert(run);
        if name != run {
            let text = format!(
                "{} belongs to {run}, although an intent of the same files and day belongs to {name}",
                one.intent.key
            );
            found.push(Violation::new("limits", text));
        }
    }
}

/// Returns the valid files at the time of an intent, or `None` if they changed in that very moment.
fn tree_at(evidence: &RunEvidence<'_>, intent: &Intent) -> Option<String> {
    let next = evidence.history.iter().skip(1).map(|(from, _)| Some(*from)).chain([None]);
    let mut spans = evidence.history.iter().zip(next);
    let inside = |from, to: Option<_>| from < intent.at && to.is_none_or(|to| intent.at < to);
    let ((_, tree), _) = spans.find(|((from, _), to)| inside(*from, *to))?;
    let good = tree.values().filter(|doc| is_valid(tree, doc));
    Some(good.map(Doc::yaml).collect())
}

/// Checks that enough people saw each approved step with its amount or a higher one, and that no
/// approval is used twice.
fn check_approvals(
    evidence: &RunEvidence<'_>,
    entries: &[DurableRecord],
    seen: &[SeenPlan],
    happened: &[IntentExposure<'_>],
    found: &mut Violations,
) {
    let approvals: Vec<&PlanApproval> = entries.iter().filter_map(plan_approval).collect();
    let mut used = BTreeSet::new();
    for one in happened.iter().filter(|one| !one.intent.exposure.approvals.is_empty()) {
        let ids = &one.intent.exposure.approvals;
        let given = approvals.iter().copied().filter(|approval| ids.contains(&approval.id));
        let above = evidence.script.people.above;
        let needed = above.map_or(1, |above| required_approvers(above, given.clone()));
        let saw = given.filter(|approval| seen.iter().any(|seen| saw_step(seen, approval, one)));
        let saw: BTreeSet<&str> = saw.map(|approval| approval.actor.as_str()).collect();
        if saw.len() < needed {
            let Intent { effect, key, .. } = one.intent;
            let text = format!(
                "{effect} of {key} moved {} by an approval; {} of {needed} people gave it for that amount",
                one.amount,
                saw.len()
            );
            found.push(Violation::new("approval", text));
        }
        for id in ids {
            if !used.insert((id, &one.intent.key)) {
                let text = format!("one approval let {} pass twice", one.intent.key);
                found.push(Violation::new("approval", text));
            }
        }
    }
}

/// Returns the number of people that an approval needs: that of the smallest approved plan.
fn required_approvers<'a>(above: i64, given: impl Iterator<Item = &'a PlanApproval>) -> usize {
    let sum = |approval: &PlanApproval| -> i64 {
        approval.steps.iter().flat_map(|step| step.exposure.sums().into_values()).sum()
    };
    let least = given.map(sum).min().unwrap_or(i64::MAX);
    if least > above { 2 } else { 1 }
}

fn plan_approval(entry: &DurableRecord) -> Option<&PlanApproval> {
    if let Record::PlanApproval(approval) = &entry.record { Some(&**approval) } else { None }
}

pub(crate) fn plans_approved(entries: &[DurableRecord]) -> usize {
    entries.iter().filter_map(plan_approval).count()
}

fn saw_step(seen: &SeenPlan, approval: &PlanApproval, one: &IntentExposure<'_>) -> bool {
    let key = &one.intent.key;
    let name = (key.kind.as_str().to_owned(), key.name.as_str().to_owned());
    let enough = seen.amounts.get(&name).is_some_and(|amount| one.amount <= *amount);
    seen.actor == approval.actor && seen.checksum == approval.checksum && enough
}

/// Returns the limit that blocks a document's step, if it is a limit of this world.
fn blocking_limit<'a>(evidence: &RunEvidence<'a>, doc: &Doc) -> Option<&'a SimLimit> {
    let view = evidence.view(doc).filter(|view| view.reason == "OverLimit")?;
    let mut bounds = evidence.script.people.limits.iter();
    bounds.find(|bound| view.message.starts_with(&format!("{} allows ", bound.name())))
}

pub(crate) fn is_over_limit(evidence: &RunEvidence<'_>, doc: &Doc) -> bool {
    blocking_limit(evidence, doc).is_some()
}

/// Checks that a blocked step would exceed its limit, together with all finished and all remaining
/// effects.
pub(crate) fn check_blocked_steps(evidence: &RunEvidence<'_>, found: &mut Violations) {
    let ever = evidence.all_documents();
    // An intent counts if it happened, or is not proved not to have happened.
    let counted = evidence.histories.iter().filter(|story| {
        let last = story.progress.last().map(|(_, progress)| progress);
        !matches!(last, Some(IntentProgress::NotSent { .. } | IntentProgress::Refused { .. }))
    });
    let may_have: Vec<_> = counted.map(|story| exposure(evidence, story)).collect();
    for doc in ever.values() {
        let Some(bound) = blocking_limit(evidence, doc) else { continue };
        let wanted = |doc: &Doc| wanted_exposure(evidence, bound.what, doc);
        let waiting = ever.values().filter(|other| {
            evidence.view(other).is_some_and(|view| !view.ready)
                && applies_to(evidence, bound, other.merchant())
        });
        let most = if bound.what == LimitQuantity::PerObject {
            wanted(doc)
        } else {
            let before = sums(evidence, bound, &may_have).into_values().max().unwrap_or(0);
            waiting.map(|other| wanted(other)).fold(before, i64::saturating_add)
        };
        if most <= bound.max {
            let (doc, limit) = (doc.address(), bound.name());
            let text = format!("{doc} waits for {limit}, although the total is only {most}");
            found.push(Violation::new("limits", text));
        }
    }
}

fn wanted_exposure(evidence: &RunEvidence<'_>, what: LimitQuantity, doc: &Doc) -> i64 {
    let said = || evidence.versions(&doc.name).iter().any(|doc| doc.declares_removal());
    let mails = if let DocBody::Invoice { mails, .. } = doc.body { mails } else { 0 };
    match what {
        LimitQuantity::PerObject | LimitQuantity::PerRun | LimitQuantity::PerDay => {
            doc.amount().unwrap_or(0)
        }
        LimitQuantity::DeletesPerRun | LimitQuantity::DeletesPerDay => i64::from(said()),
        LimitQuantity::EmailsPerRun | LimitQuantity::EmailsPerDay => i64::from(mails),
    }
}
