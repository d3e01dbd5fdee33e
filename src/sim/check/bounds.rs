//! Checks limits. No run, day or merchant moves more than its limit and the amounts approved for
//! it. A step that a limit blocks at the end would really exceed it.
//!
//! The sums come from the requests and results of the service, not from the engine's own counts.

use std::collections::{BTreeMap, BTreeSet};

use chrono::NaiveDate;
use serde_json::Value;

use super::{Evidence, Violation, is_good};
use crate::api::Method;
use crate::model::intent::{Intent, Progress};
use crate::model::plan_approval::PlanApproval;
use crate::model::record::Record;
use crate::sim::approver::Seen;
use crate::sim::bounds::{Bound, What};
use crate::sim::durable::{Entry, Story, name_of};
use crate::sim::front::Arrival;
use crate::sim::world::{Body, Doc};

/// Exposure of one intent.
struct Spent<'a> {
    intent: &'a Intent,
    /// Set if the service applied the intent.
    happened: bool,
    amount: i64,
    deletes: i64,
    emails: i64,
}

impl Spent<'_> {
    fn of(&self, what: What) -> i64 {
        match what {
            What::PerObject | What::PerRun | What::PerDay => self.amount,
            What::DeletesPerRun | What::DeletesPerDay => self.deletes,
            What::EmailsPerRun | What::EmailsPerDay => self.emails,
        }
    }

    fn merchant(&self) -> &str {
        self.intent.merchant.name.as_str()
    }
}

/// Reports every exceeded limit, except for approved steps.
pub(in crate::sim) fn bounds(
    evidence: &Evidence<'_>,
    entries: &[Entry],
    seen: &[Seen],
) -> Vec<Violation> {
    let mut found = Vec::new();
    let happened: Vec<Spent<'_>> = spent(evidence).into_iter().filter(|one| one.happened).collect();
    for bound in &evidence.script.people.bounds {
        for (span, sum) in sums(evidence, bound, &happened) {
            if sum > bound.most {
                let text =
                    format!("{} allows {}, and {span} moved {sum}", bound.name(), bound.most);
                found.push(Violation::new("limits", text));
            }
        }
    }
    if !evidence.script.people.bounds.is_empty() {
        found.extend(happened.iter().filter_map(counted));
    }
    runs(evidence, &happened, &mut found);
    approved(evidence, entries, seen, &happened, &mut found);
    found
}

/// Reports an intent whose recorded exposure is lower than the amount that the service moved.
fn counted(one: &Spent<'_>) -> Option<Violation> {
    let counted: i64 = one.intent.stake.sums().into_values().sum();
    (counted < one.amount).then(|| {
        let Spent { intent, amount, .. } = one;
        let text =
            format!("{} of {} moved {amount}, and {counted} counted", intent.effect, intent.key);
        Violation::new("limits", text)
    })
}

/// Returns the exposure of every intent.
fn spent<'a>(evidence: &Evidence<'a>) -> Vec<Spent<'a>> {
    let stories = evidence.stories.iter();
    stories.map(|story| one(evidence, story)).collect()
}

fn one<'a>(evidence: &Evidence<'a>, story: &'a Story) -> Spent<'a> {
    let arrivals = arrivals(evidence, story);
    let done = arrivals.iter().find(|one| (200..300).contains(&one.status)).copied();
    let asked = done.or(arrivals.first().copied()).map(|one| &one.asked);
    let billed = done.and_then(|one| one.reply.get("total_amount"));
    let billed = billed.or_else(|| story.intent.expect.get("total_amount"));
    // The total of a recurring charge is the sum that it has collected so far.
    let billed = billed.filter(|_| story.intent.effect == "invoice.create");
    // If the request never arrived, only the expected answer names the amount.
    let said = asked.map_or_else(|| story.intent.expect.get("amount"), |asked| asked.get("amount"));
    Spent {
        intent: &story.intent,
        happened: done.is_some(),
        amount: billed.or(said).and_then(Value::as_i64).unwrap_or(0),
        deletes: i64::from(story.intent.request.method == Method::Delete),
        emails: asked.map_or(0, addresses),
    }
}

/// Returns the arrivals of an intent: all calls of its name until the next intent of that name.
fn arrivals<'a>(evidence: &Evidence<'a>, story: &Story) -> Vec<&'a Arrival> {
    let name = name_of(&story.intent);
    let same = evidence.stories.iter().filter(|one| name_of(&one.intent) == name);
    let next = same.filter(|one| one.intent.id > story.intent.id).map(|one| one.intent.at).min();
    let mine = evidence.arrivals.iter().filter(|one| one.name == name && one.at >= story.intent.at);
    mine.filter(|one| next.is_none_or(|next| one.at < next)).collect()
}

/// Returns the number of addresses to which an invoice is mailed.
fn addresses(asked: &Value) -> i64 {
    let messages = asked.get("invoice_messages").and_then(Value::as_array).into_iter().flatten();
    let lists = messages.filter_map(|message| message.get("email_addresses")?.as_array());
    i64::try_from(lists.map(Vec::len).sum::<usize>()).unwrap_or(i64::MAX)
}

/// Returns the sums that count against a limit, by span. Approved intents count against no limit.
fn sums(evidence: &Evidence<'_>, bound: &Bound, spent: &[Spent<'_>]) -> BTreeMap<String, i64> {
    let mut sums = BTreeMap::new();
    let counted = spent.iter().filter(|one| one.intent.stake.approvals.is_empty());
    for one in counted.filter(|one| concerns(evidence, bound, one.merchant())) {
        let day = one.intent.at.date_naive();
        let span = match bound.what {
            What::PerObject => format!("{} {}", one.intent.effect, one.intent.id),
            What::PerDay | What::DeletesPerDay | What::EmailsPerDay => day.to_string(),
            What::PerRun | What::DeletesPerRun | What::EmailsPerRun => {
                let Some(run) = &one.intent.stake.run else { continue };
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
fn concerns(evidence: &Evidence<'_>, bound: &Bound, merchant: &str) -> bool {
    let own =
        |other: &Bound| other.what == bound.what && other.merchant.as_deref() == Some(merchant);
    match &bound.merchant {
        Some(only) => only == merchant,
        None => bound.what != What::PerObject || !evidence.script.people.bounds.iter().any(own),
    }
}

/// Checks that one state of the files on one day is one run, also across restarts. Intents of the
/// very moment in which the files changed are skipped, since they may belong to either state.
fn runs(evidence: &Evidence<'_>, spent: &[Spent<'_>], found: &mut Vec<Violation>) {
    let mut names: BTreeMap<(String, NaiveDate), &str> = BTreeMap::new();
    for one in spent {
        let (Some(run), Some(tree)) = (&one.intent.stake.run, state(evidence, one.intent)) else {
            continue;
        };
        let name = names.entry((tree, one.intent.at.date_naive())).or_insert(run);
        if name != run {
            let text = format!(
                "{} counts to {run}, and what was of the same files to {name}",
                one.intent.key
            );
            found.push(Violation::new("limits", text));
        }
    }
}

/// Returns the valid files at the time of an intent, or `None` if they changed in that very moment.
fn state(evidence: &Evidence<'_>, intent: &Intent) -> Option<String> {
    let next = evidence.history.iter().skip(1).map(|(from, _)| Some(*from)).chain([None]);
    let mut spans = evidence.history.iter().zip(next);
    let inside = |from, to: Option<_>| from < intent.at && to.is_none_or(|to| intent.at < to);
    let ((_, tree), _) = spans.find(|((from, _), to)| inside(*from, *to))?;
    let good = tree.values().filter(|doc| is_good(tree, doc));
    Some(good.map(Doc::yaml).collect())
}

/// Checks that enough people saw each approved step with its amount or a higher one, and that no
/// approval is used twice.
fn approved(
    evidence: &Evidence<'_>,
    entries: &[Entry],
    seen: &[Seen],
    happened: &[Spent<'_>],
    found: &mut Vec<Violation>,
) {
    let approvals: Vec<&PlanApproval> = entries.iter().filter_map(approval).collect();
    let mut used = BTreeSet::new();
    for one in happened.iter().filter(|one| !one.intent.stake.approvals.is_empty()) {
        let ids = &one.intent.stake.approvals;
        let given = approvals.iter().filter(|approval| ids.contains(&approval.id));
        let saw: BTreeSet<&str> = given
            .filter(|approval| seen.iter().any(|seen| is_of(seen, approval, one)))
            .map(|approval| approval.actor.as_str())
            .collect();
        let needed = if evidence.script.people.above.is_some() {
            needed(evidence, one, &approvals)
        } else {
            1
        };
        if saw.len() < needed {
            let text = format!(
                "{} of {} moved {} by an approval that {} of {needed} people gave for that",
                one.intent.effect,
                one.intent.key,
                one.amount,
                saw.len()
            );
            found.push(Violation::new("approval", text));
        }
        for id in ids {
            if !used.insert((id, &one.intent.key)) {
                let text = format!("{} passed twice by one approval", one.intent.key);
                found.push(Violation::new("approval", text));
            }
        }
    }
}

/// Returns the number of people that an approval needs: that of the smallest approved plan.
fn needed(evidence: &Evidence<'_>, one: &Spent<'_>, approvals: &[&PlanApproval]) -> usize {
    let above = evidence.script.people.above.unwrap_or(i64::MAX);
    let ids = &one.intent.stake.approvals;
    let given = approvals.iter().filter(|approval| ids.contains(&approval.id));
    let sum = |approval: &PlanApproval| -> i64 {
        approval.steps.iter().flat_map(|step| step.stake.sums().into_values()).sum()
    };
    let least = given.map(|approval| sum(approval)).min().unwrap_or(i64::MAX);
    if least > above { 2 } else { 1 }
}

fn approval(entry: &Entry) -> Option<&PlanApproval> {
    if let Record::PlanApproval(approval) = &entry.record { Some(&**approval) } else { None }
}

/// Returns the number of plans that people approved.
pub(in crate::sim) fn plans_approved(entries: &[Entry]) -> usize {
    entries.iter().filter_map(approval).count()
}

/// Returns true if the approver saw exactly this step in the approved plan.
fn is_of(seen: &Seen, approval: &PlanApproval, one: &Spent<'_>) -> bool {
    let key = &one.intent.key;
    let name = (key.kind.as_str().to_owned(), key.name.as_str().to_owned());
    let enough = seen.amounts.get(&name).is_some_and(|amount| one.amount <= *amount);
    seen.actor == approval.actor && seen.checksum == approval.checksum && enough
}

/// Returns the limit that blocks a document's step, if it is a limit of this world.
fn named<'a>(evidence: &Evidence<'a>, doc: &Doc) -> Option<&'a Bound> {
    let mine = |view: &&crate::engine::ResourceView| {
        view.name == doc.name && view.kind == doc.kind() && view.reason == "OverLimit"
    };
    let view = evidence.views.iter().find(mine)?;
    let mut bounds = evidence.script.people.bounds.iter();
    bounds.find(|bound| view.message.starts_with(&format!("{} allows ", bound.name())))
}

/// Returns true if a limit of this world blocks a document.
pub(super) fn stopped(evidence: &Evidence<'_>, doc: &Doc) -> bool {
    named(evidence, doc).is_some()
}

/// Returns true if a document has steps left.
fn is_unready(evidence: &Evidence<'_>, doc: &Doc) -> bool {
    let mine =
        |view: &&crate::engine::ResourceView| view.name == doc.name && view.kind == doc.kind();
    evidence.views.iter().find(mine).is_some_and(|view| !view.ready)
}

/// Checks that a blocked step would exceed its limit, together with all finished and all remaining
/// effects.
pub(super) fn justified(evidence: &Evidence<'_>, found: &mut Vec<Violation>) {
    let ever = evidence.ever();
    let spent = spent(evidence);
    let may_have: Vec<Spent<'_>> = spent
        .into_iter()
        .zip(evidence.stories)
        .filter(|(_, story)| counts(story))
        .map(|(one, _)| one)
        .collect();
    for doc in ever.values() {
        let Some(bound) = named(evidence, doc) else { continue };
        let wanted = |doc: &Doc| wants(evidence, bound.what, doc);
        let waiting = ever.values().filter(|other| {
            is_unready(evidence, other) && concerns(evidence, bound, other.merchant())
        });
        let most = if bound.what == What::PerObject {
            wanted(doc)
        } else {
            let before = sums(evidence, bound, &may_have).into_values().max().unwrap_or(0);
            waiting.map(|other| wanted(other)).fold(before, i64::saturating_add)
        };
        if most <= bound.most {
            let text =
                format!("{} stands for {}, and all of it is {most}", doc.address(), bound.name());
            found.push(Violation::new("limits", text));
        }
    }
}

/// Returns true if an intent counts: it happened, or is not proved not to have happened.
fn counts(story: &Story) -> bool {
    let last = story.progress.last().map(|(_, progress)| progress);
    !matches!(last, Some(Progress::NotSent { .. } | Progress::Refused { .. }))
}

/// Returns the exposure of a document.
fn wants(evidence: &Evidence<'_>, what: What, doc: &Doc) -> i64 {
    let said = || evidence.versions(&doc.name).iter().any(|doc| doc.says_delete());
    let mails = if let Body::Invoice { mails, .. } = doc.body { mails } else { 0 };
    match what {
        What::PerObject | What::PerRun | What::PerDay => doc.amount().unwrap_or(0),
        What::DeletesPerRun | What::DeletesPerDay => i64::from(said()),
        What::EmailsPerRun | What::EmailsPerDay => i64::from(mails),
    }
}
