//! Renders the reason for a resource's state: from the answer back to the line that requested it.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::clock::timestamp;
use crate::base::id::Key;
use crate::engine::protocol::views::MoneyView;
use crate::render::words::{self, Screen, clean, file_place, push_line, short_hash, value_text};
use crate::store::history::{EffectHistory, HistoryEntry, RecordRef};

const LABEL_WIDTH: usize = 10;

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct WhyView {
    pub version: u32,
    /// Sentences about the argument, if it is not a resource itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub about: Vec<String>,
    pub resources: Vec<ResourceHistoryView>,
    /// First record of the whole verified chain, if verification was requested.
    #[serde(rename = "whole", skip_serializing_if = "Option::is_none")]
    pub verified_from: Option<u64>,
    /// Last record of the journal.
    pub position: u64,
    /// Hash of that record.
    pub head: String,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ResourceHistoryView {
    pub key: Key,
    /// Effects, oldest first.
    pub effects: Vec<EffectHistoryView>,
    pub others: Vec<HistoryEntry>,
    pub verified: Vec<(u64, u64)>,
    /// Records that a compaction dropped for good.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<u64>,
    /// Reason of the plan, if no effect was ever sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_sent: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct EffectHistoryView {
    pub intent: String,
    pub effect: String,
    pub outcome: String,
    pub money: Vec<MoneyView>,
    /// Values that the answer had to contain, by path.
    pub expected: Vec<(String, Value)>,
    /// Progress of the effect, oldest first.
    pub progress: Vec<HistoryEntry>,
    /// Request without its body.
    pub request: String,
    /// Unique name of the effect.
    pub source_id: String,
    /// Mark of the same effect in fields of the service.
    pub mark: String,
    /// Time of the intent's record.
    pub at: DateTime<Utc>,
    #[serde(rename = "stands")]
    pub record: RecordRef,
    pub approval: Option<ApprovalView>,
    /// Plan approvals that allowed the effect past a limit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plan_approvals: Vec<String>,
    /// Person who requested the effect by a command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked_by: Option<String>,
    pub file: Option<String>,
    pub line: Option<usize>,
    pub commit: Option<String>,
    /// Set if the file differed from its content in that commit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub uncommitted: bool,
    /// Lines of the fields whose change caused the effect; empty for the whole document.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<(usize, usize)>,
    /// Author of these lines, if the repository is available.
    pub author: Option<AuthorView>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalView {
    #[serde(rename = "stands")]
    pub record: RecordRef,
    pub at: DateTime<Utc>,
    pub actor: String,
}

/// Last author of a line.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct AuthorView {
    pub name: String,
    pub email: String,
    /// Time in RFC 3339.
    pub at: String,
    /// Commit that changed the line.
    pub commit: String,
    /// First line of the commit's message.
    pub subject: String,
}

impl From<&EffectHistory> for EffectHistoryView {
    fn from(story: &EffectHistory) -> Self {
        let intent = &story.intent;
        let expected = story.expected_values().into_iter();
        let last = story.progress.last();
        let money = intent.exposure.moves.iter().map(|moved| MoneyView {
            currency: moved.amount.currency().to_string(),
            mode: intent.mode,
            meaning: moved.meaning.clone(),
            amount: moved.amount.minor(),
        });
        Self {
            money: money.collect(),
            plan_approvals: intent.exposure.approvals.clone(),
            asked_by: intent.cause.actor.clone(),
            intent: intent.id.to_string(),
            effect: intent.effect.clone(),
            outcome: last.map_or("recorded", |last| last.what.as_str()).to_owned(),
            expected: expected.map(|(path, value)| (path.to_owned(), value.clone())).collect(),
            progress: story.progress.clone(),
            request: format!("{} {}", intent.request.method.as_str(), intent.request.path),
            source_id: intent.source_id.to_string(),
            mark: intent.mark.to_string(),
            at: intent.at,
            record: story.record_ref,
            approval: None,
            file: intent.cause.file.as_ref().map(ToString::to_string),
            line: intent.cause.line,
            commit: intent.cause.commit.clone(),
            uncommitted: intent.cause.uncommitted,
            changed: intent.cause.changed.clone(),
            author: None,
        }
    }
}

pub fn text(view: &WhyView, screen: Screen) -> String {
    let mut out = String::new();
    view.about.iter().for_each(|about| push_line!(out, "{}", clean(about)));
    for (number, resource) in view.resources.iter().enumerate() {
        if number > 0 || !view.about.is_empty() {
            out.push('\n');
        }
        resource_text(&mut out, screen, resource);
    }
    let head = format!("head {} at record {}", short_hash(&view.head), view.position);
    let whole = view.verified_from.map_or_else(
        || format!("{head}; --verify checks the whole chain"),
        |first| format!("every record from {first} on, to the {head}"),
    );
    push_line!(out, "\njournal   {whole}");
    out
}

fn resource_text(out: &mut String, screen: Screen, resource: &ResourceHistoryView) {
    push_line!(out, "{}", screen.bold(&clean(&resource.key.short())));
    if let Some(reason) = &resource.not_sent {
        return push_line!(out, "  not sent yet: {}", clean(reason));
    }
    for effect in resource.effects.iter().rev() {
        effect_text(out, screen, effect);
    }
    if !resource.others.is_empty() {
        push_line!(out, "\n  other records");
        resource.others.iter().rev().for_each(|other| progress_line(out, other));
    }
    if !resource.dropped.is_empty() {
        let count = resource.dropped.len();
        push_line!(out, "\n  {count} older records were dropped by a compaction");
    }
    let runs: Vec<String> =
        resource.verified.iter().map(|(first, last)| format!("{first}–{last}")).collect();
    push_line!(out, "\n  verified  checksums, hashes and links of records {}", runs.join(", "));
}

fn effect_text(out: &mut String, screen: Screen, effect: &EffectHistoryView) {
    let outcome = clean(&effect.outcome);
    let title = format!("{} {}", clean(&effect.intent), clean(&effect.effect));
    push_line!(out, "\n  {}  {outcome}", screen.bold(&title));
    for money in &effect.money {
        fact(out, "money", &words::money_text(money));
    }
    for (path, wanted) in &effect.expected {
        fact(out, "requested", &format!("{} = {}", clean(path), value_text(wanted)));
    }
    effect.progress.iter().rev().for_each(|happened| progress_line(out, happened));
    let record = record_text(effect.record);
    let request = clean(&effect.request);
    fact(out, "intent", &format!("{}  {record}  {request}", timestamp(&effect.at)));
    fact(out, "name", &format!("{}  {}", clean(&effect.source_id), clean(&effect.mark)));
    if let Some(approval) = &effect.approval {
        let (at, by) = (timestamp(&approval.at), clean(&approval.actor));
        fact(out, "approved", &format!("{at}  {}  by {by}", record_text(approval.record)));
    }
    cause_text(out, effect);
}

/// Renders the line that requested the effect, and the author of that line.
fn cause_text(out: &mut String, effect: &EffectHistoryView) {
    let after = if effect.uncommitted { "with an uncommitted change after" } else { "at" };
    let commit =
        effect.commit.as_deref().map(|commit| format!(" {after} commit {}", short_hash(commit)));
    for approval in &effect.plan_approvals {
        fact(out, "approved", &format!("past a limit, by the plan approval {}", clean(approval)));
    }
    if let Some(person) = &effect.asked_by {
        return fact(out, "actor", &clean(person));
    }
    let line = effect.changed.first().map(|(first, _)| *first).or(effect.line);
    match file_place(effect.file.as_deref(), line) {
        Some(place) => fact(out, "file", &format!("{place}{}", commit.unwrap_or_default())),
        None => fact(out, "file", "not from a file: a command requested it"),
    }
    match &effect.author {
        Some(author) => {
            let who = format!("{} <{}>", clean(&author.name), clean(&author.email));
            let what = clean(&author.subject);
            let commit = short_hash(&author.commit);
            fact(out, "author", &format!("{who}, {}, {commit}: {what}", clean(&author.at)));
        }
        None if effect.uncommitted => {
            fact(out, "author", "not known: the change was in no commit");
        }
        None if effect.commit.is_some() => {
            fact(out, "author", "not known: the repository or its commit is missing here");
        }
        None => fact(out, "author", "not known: the files were in no git commit"),
    }
}

fn progress_line(out: &mut String, happened: &HistoryEntry) {
    let id = happened.remote_id.as_deref().map(|id| format!("  {}", clean(id)));
    let detail = happened.detail.as_deref().map(|detail| format!("  {}", clean(detail)));
    let (id, detail) = (id.unwrap_or_default(), detail.unwrap_or_default());
    let at = timestamp(&happened.at);
    fact(out, &happened.what, &format!("{at}  {}{id}{detail}", record_text(happened.record_ref)));
}

fn record_text(stands: RecordRef) -> String {
    format!("record {} {}", stands.record, stands.hash.short())
}

fn fact(out: &mut String, label: &str, text: &str) {
    push_line!(out, "    {:LABEL_WIDTH$} {text}", clean(label));
}
