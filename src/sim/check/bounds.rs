//! Limits: no run, day or merchant moves more than its limit and what people approved for just that; and what
//! stands at the end for a limit really would exceed it.
//!
//! Sums are made here of what the service was asked for and did, not of what the engine counted.

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

/// What one intent set in motion.
struct Spent<'a> {
    intent: &'a Intent,
    /// Whether the service did it.
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

/// Every limit was kept, but for what people approved.
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

/// What moves counts: all that the service was made to move stands with the intent, as the meter has it.
fn counted(one: &Spent<'_>) -> Option<Violation> {
    let counted: i64 = one.intent.stake.sums().into_values().sum();
    (counted < one.amount).then(|| {
        let Spent { intent, amount, .. } = one;
        let text =
            format!("{} of {} moved {amount}, and {counted} counted", intent.effect, intent.key);
        Violation::new("limits", text)
    })
}

/// What every intent set in motion, or may have.
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
    // What a recurring charge calls its total is what it collected so far.
    let billed = billed.filter(|_| story.intent.effect == "invoice.create");
    // What never arrived is known only by what its answer had to say.
    let said = asked.map_or_else(|| story.intent.expect.get("amount"), |asked| asked.get("amount"));
    Spent {
        intent: &story.intent,
        happened: done.is_some(),
        amount: billed.or(said).and_then(Value::as_i64).unwrap_or(0),
        deletes: i64::from(story.intent.request.method == Method::Delete),
        emails: asked.map_or(0, addresses),
    }
}

/// What arrived of an intent: everything of its name until the next intent of that name.
fn arrivals<'a>(evidence: &Evidence<'a>, story: &Story) -> Vec<&'a Arrival> {
    let name = name_of(&story.intent);
    let same = evidence.stories.iter().filter(|one| name_of(&one.intent) == name);
    let next = same.filter(|one| one.intent.id > story.intent.id).map(|one| one.intent.at).min();
    let mine = evidence.arrivals.iter().filter(|one| one.name == name && one.at >= story.intent.at);
    mine.filter(|one| next.is_none_or(|next| one.at < next)).collect()
}

/// To how many addresses an invoice is mailed.
fn addresses(asked: &Value) -> i64 {
    let messages = asked.get("invoice_messages").and_then(Value::as_array).into_iter().flatten();
    let lists = messages.filter_map(|message| message.get("email_addresses")?.as_array());
    i64::try_from(lists.map(Vec::len).sum::<usize>()).unwrap_or(i64::MAX)
}

/// What counts to a limit, by what it is summed over. What people approved counts to nothing.
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

/// Whether a limit is about a merchant: a merchant's own word on single amounts stands in place of the general one.
fn concerns(evidence: &Evidence<'_>, bound: &Bound, merchant: &str) -> bool {
    let own =
        |other: &Bound| other.what == bound.what && other.merchant.as_deref() == Some(merchant);
    match &bound.merchant {
        Some(only) => only == merchant,
        None => bound.what != What::PerObject || !evidence.script.people.bounds.iter().any(own),
    }
}

/// One state of the files on one day is one run, whatever the process went through in between. Intents of the very
/// moment in which the files changed are not looked at: they may be of either state.
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

/// The good files as they were when an intent was made; none where they changed in that very moment.
fn state(evidence: &Evidence<'_>, intent: &Intent) -> Option<String> {
    let next = evidence.history.iter().skip(1).map(|(from, _)| Some(*from)).chain([None]);
    let mut spans = evidence.history.iter().zip(next);
    let inside = |from, to: Option<_>| from < intent.at && to.is_none_or(|to| intent.at < to);
    let ((_, tree), _) = spans.find(|((from, _), to)| inside(*from, *to))?;
    let good = tree.values().filter(|doc| is_good(tree, doc));
    Some(good.map(Doc::yaml).collect())
}

/// What passed a limit by an approval was seen by enough people, with that amount or a higher one, and passed once.
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

/// How many people it takes: as many as the smallest of the plans that were approved takes.
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

/// How many plans people approved.
pub(in crate::sim) fn plans_approved(entries: &[Entry]) -> usize {
    entries.iter().filter_map(approval).count()
}

/// Whether somebody saw just this in the plan that they approved.
fn is_of(seen: &Seen, approval: &PlanApproval, one: &Spent<'_>) -> bool {
    let key = &one.intent.key;
    let name = (key.kind.as_str().to_owned(), key.name.as_str().to_owned());
    let enough = seen.amounts.get(&name).is_some_and(|amount| one.amount <= *amount);
    seen.actor == approval.actor && seen.checksum == approval.checksum && enough
}

/// The limit that a document's step says it stands for, if it is one of this world.
fn named<'a>(evidence: &Evidence<'a>, doc: &Doc) -> Option<&'a Bound> {
    let mine = |view: &&crate::engine::ResourceView| {
        view.name == doc.name && view.kind == doc.kind() && view.reason == "OverLimit"
    };
    let view = evidence.views.iter().find(mine)?;
    let mut bounds = evidence.script.people.bounds.iter();
    bounds.find(|bound| view.message.starts_with(&format!("{} allows ", bound.name())))
}

/// Whether a document waits for a limit, and says which.
pub(super) fn stopped(evidence: &Evidence<'_>, doc: &Doc) -> bool {
    named(evidence, doc).is_some()
}

/// Whether something of a document is still to be done.
fn is_unready(evidence: &Evidence<'_>, doc: &Doc) -> bool {
    let mine =
        |view: &&crate::engine::ResourceView| view.name == doc.name && view.kind == doc.kind();
    evidence.views.iter().find(mine).is_some_and(|view| !view.ready)
}

/// What stands for a limit would exceed it, together with everything that was done and that is still to be done.
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

/// Whether an intent counts: it happened, or nobody proved that it did not.
fn counts(story: &Story) -> bool {
    let last = story.progress.last().map(|(_, progress)| progress);
    !matches!(last, Some(Progress::NotSent { .. } | Progress::Refused { .. }))
}

/// What a document would set in motion.
fn wants(evidence: &Evidence<'_>, what: What, doc: &Doc) -> i64 {
    let said = || evidence.versions(&doc.name).iter().any(|doc| doc.says_delete());
    let mails = if let Body::Invoice { mails, .. } = doc.body { mails } else { 0 };
    match what {
        What::PerObject | What::PerRun | What::PerDay => doc.amount().unwrap_or(0),
        What::DeletesPerRun | What::DeletesPerDay => i64::from(said()),
        What::EmailsPerRun | What::EmailsPerDay => i64::from(mails),
    }
}
