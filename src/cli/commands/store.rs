//! `store`: verifies, rebuilds, copies, restores, compacts and rekeys the state on disk.
//!
//! `store compact`: a sealed snapshot replaces the records so far, and values that neither journal
//! nor archive needs are deleted.

use std::time::Duration;

use chrono::TimeDelta;
use serde::Serialize;

use crate::base::clock::{Clock, SystemClock};
use crate::base::wording::count_noun;
use crate::cli::args::store::{CompactArgs, StoreCommand};
use crate::cli::commands::{backup, rekey};
use crate::cli::context::machine;
use crate::cli::context::open::Context;
use crate::cli::context::session::daemon;
use crate::cli::context::state_handle::StateHandle;
use crate::cli::exit::{CommandFailure, CommandResult, Exit, local_only};
use crate::cli::remote::Daemon;
use crate::config::events::{ArchiveRetention, CompactionMode};
use crate::config::setting::ProcessEnv;
use crate::control::requests::Compact;
use crate::engine::core::retention::{CompactionPlan, Retention};
use crate::model::record::Rekeyed;
use crate::model::state::lifecycle::Compacted;
use crate::render::words::bytes;
use crate::store::error::OpenError;
use crate::store::state::compact::{ArchivePolicy, CompactionRequest, CompactionResult, Sizes};
use crate::store::state::open::{UnreadableValue, unreadable_values};
use crate::store::vault::upkeep::Gap;

/// Interval at which old events are looked for.
const LOOK_EVERY: Duration = Duration::from_hours(1);

#[derive(Debug, Serialize)]
struct CheckOutput {
    records: u64,
    head: String,
    state_digest: String,
    partner: Option<String>,
    open_intents: usize,
    resources: usize,
    rebuilt: Option<String>,
    moved_aside: Option<String>,
    cut_bytes: Option<u64>,
    epoch: u32,
    begins_behind: u64,
    torn: Vec<String>,
    rekeyed: Option<Rekeyed>,
    problems: Vec<UnreadableValue>,
}

pub(crate) async fn run(setup: &Context, command: &StoreCommand) -> CommandResult {
    match command {
        StoreCommand::Check => check(setup, false).await,
        StoreCommand::Rebuild => check(setup, true).await,
        StoreCommand::Backup(args) => backup::run(setup, args).await,
        StoreCommand::Restore(args) => backup::restore_backup(setup, args).await,
        StoreCommand::Compact(args) => compact(setup, args).await,
        StoreCommand::Rekey(args) => rekey::run(setup, args).await,
        StoreCommand::Release(args) => backup::release(setup, args).await,
    }
}

/// Verifies everything; first rebuilds the index if `rebuild` is set.
async fn check(setup: &Context, rebuild: bool) -> CommandResult {
    let state = setup.open_state(rebuild).await?.state;
    let head = state.verify()?;
    let facts = &state.facts;
    let mut resources = 0_usize;
    facts.each_observed(|_, _| {
        resources = resources.saturating_add(1);
        Ok(())
    })?;
    let gaps = state.vault.find_gaps().map_err(OpenError::from)?;
    let torn = |gap: &Gap| {
        format!("vault/{}: {} from byte {} on", gap.file, count_noun(gap.bytes, "byte"), gap.offset)
    };
    let report = CheckOutput {
        epoch: facts.state_owner()?.map_or(0, |binding| binding.epoch),
        begins_behind: state.base_sequence()?,
        torn: gaps.iter().map(torn).collect(),
        rekeyed: state.vault.identity().last_rekey().cloned(),
        problems: unreadable_values(facts, &state.vault)?,
        records: head.sequence,
        head: data_encoding::HEXLOWER.encode(&head.hash),
        state_digest: facts.digest()?.to_string(),
        partner: facts.state_owner()?.map(|binding| binding.partner),
        open_intents: facts.open_intents()?.len(),
        resources,
        rebuilt: state.found.rebuilt.clone(),
        moved_aside: state.found.moved_aside.as_ref().map(|path| path.display().to_string()),
        cut_bytes: state.found.cut.as_ref().map(|cut| cut.bytes),
    };
    state.close().await?;
    setup.out.result(&report, || check_text(&report))?;
    Ok(if report.problems.is_empty() { Exit::Done } else { Exit::Environment })
}

fn check_text(report: &CheckOutput) -> String {
    let mut lines = vec![
        format!("journal       {}, every one verified", count_noun(report.records, "record")),
        format!("head          {}", report.head),
        format!("state digest  {}", report.state_digest),
        format!("partner       {}", report.partner.as_deref().unwrap_or("none yet")),
        format!("resources     {}", report.resources),
        format!("open intents  {}", report.open_intents),
    ];
    if let Some(why) = &report.rebuilt {
        lines.push(format!("index         rebuilt from the journal: {why}"));
    }
    if let Some(path) = &report.moved_aside {
        lines.push(format!("              the damaged one was moved to {path}"));
    }
    if let Some(bytes) = report.cut_bytes.map(|bytes| count_noun(bytes, "byte")) {
        lines.push(format!("journal       a torn tail was cut ({bytes}, never acknowledged)"));
    }
    if report.epoch > 0 {
        lines.push(format!("epoch         {}: a backup was restored", report.epoch));
    }
    if report.begins_behind > 0 {
        lines.push(format!(
            "begins        after record {}, at a valid snapshot",
            report.begins_behind
        ));
    }
    lines.extend(report.rekeyed.as_ref().map(rekey::rekeyed_line));
    let torn = report.torn.iter();
    lines.extend(torn.map(|gap| format!("no value      {gap}: a torn write, or damage")));
    for ill in &report.problems {
        lines.push(format!("damaged       {} of {}: {}", ill.what, ill.key.short(), ill.why));
    }
    lines.join("\n")
}

#[derive(Debug, Serialize)]
struct CompactOutput {
    compacted: Option<Compacted>,
    snapshot_bytes: usize,
    segments: usize,
    archive: Option<String>,
    archive_dropped: usize,
    values_dropped: u64,
    before: Sizes,
    after: Sizes,
}

pub(crate) async fn compact(setup: &Context, args: &CompactArgs) -> CommandResult {
    if setup.server.is_some() {
        return Err(local_only("`store compact`", "it changes the files of the state"));
    }
    let shorter = match daemon(setup).await? {
        Some(client) => compact_by_daemon(&client, args.drop_history).await?,
        None => compact_here(setup, args.drop_history).await?,
    };
    let report = CompactOutput {
        snapshot_bytes: shorter.bytes,
        segments: shorter.segments,
        archive: (!args.drop_history).then(|| setup.state.join("archive").display().to_string()),
        archive_dropped: shorter.dropped,
        values_dropped: shorter.values,
        before: shorter.before,
        after: shorter.after,
        compacted: shorter.compacted,
    };
    setup.out.result(&report, || compaction_text(&report))?;
    Ok(Exit::Done)
}

async fn compact_by_daemon(client: &Daemon, drop_history: bool) -> CommandResult<CompactionResult> {
    let done = client.send(Compact(drop_history)).await?;
    let done = done.map_err(|why| CommandFailure::environment("reckon::store::compact", why))?;
    Ok(*done)
}

/// Compacts the state where no daemon runs.
async fn compact_here(setup: &Context, drop_history: bool) -> CommandResult<CompactionResult> {
    let history = if drop_history { ArchivePolicy::Drop } else { archive_policy(setup)? };
    let open = setup.open_state(false).await?;
    let wanted = CompactionRequest { history, at: SystemClock.now(), actor: machine::actor() };
    Ok(open.state.compact(&wanted).await?)
}

/// Returns the configured treatment of the records that a snapshot replaces.
pub(crate) fn archive_policy(setup: &Context) -> CommandResult<ArchivePolicy> {
    let config = &setup.config;
    Ok(match config.store.archive_retention(&config.events, &ProcessEnv)? {
        ArchiveRetention::Keep => ArchivePolicy::Keep,
        ArchiveRetention::Drop => ArchivePolicy::Drop,
        ArchiveRetention::For(time) => {
            ArchivePolicy::KeepFor(i64::try_from(time.as_secs()).unwrap_or(i64::MAX))
        }
    })
}

/// Returns how long events are kept.
pub(crate) fn retention(setup: &Context) -> CommandResult<Retention> {
    let keep = setup.config.events.keep.get(&ProcessEnv)?;
    let keep = TimeDelta::from_std(keep).unwrap_or(TimeDelta::MAX);
    Ok(Retention { keep, every: LOOK_EVERY, late: Retention::LATE, ahead: Retention::AHEAD })
}

pub(crate) fn compaction(setup: &Context, open: &StateHandle) -> CommandResult<CompactionPlan> {
    let automatic = setup.config.store.compact.get(&ProcessEnv)? == CompactionMode::Auto;
    let (compactor, archive_policy) = (open.state.compactor(), archive_policy(setup)?);
    Ok(CompactionPlan { compactor, history: archive_policy, automatic })
}

fn compaction_text(report: &CompactOutput) -> String {
    let mut lines = match &report.compacted {
        None => vec!["nothing to compact: no record since the last compaction".to_owned()],
        Some(compacted) => vec![
            format!("compacted     records up to {}", compacted.sequence),
            format!("replaces      {}", compacted.replaces),
            format!(
                "snapshot      {}, {}",
                compacted.snapshot,
                count_noun(report.snapshot_bytes, "byte")
            ),
        ],
    };
    if report.compacted.is_some() || report.segments > 0 {
        let kept = report.archive.as_ref().map_or_else(
            || "deleted, as requested".to_owned(),
            |path| format!("kept in {path} for `reckon why`"),
        );
        lines.push(format!("segments      {} {kept}", report.segments));
    }
    if report.archive_dropped > 0 {
        let why =
            if report.archive.is_some() { "older than the retention" } else { "as requested" };
        lines.push(format!(
            "archive       {} deleted, {why}",
            count_noun(report.archive_dropped, "segment")
        ));
    }
    if report.values_dropped > 0 {
        lines.push(format!(
            "vault         {} deleted: no longer referenced",
            count_noun(report.values_dropped, "value")
        ));
    }
    let (before, after) = (&report.before, &report.after);
    for (part, before, after) in [
        ("journal", before.journal, after.journal),
        ("archive", before.archive, after.archive),
        ("vault", before.vault, after.vault),
        ("index", before.index, after.index),
        ("total", before.total(), after.total()),
    ] {
        lines.push(format!("{part:<13} {} -> {}", bytes(before), bytes(after)));
    }
    lines.join("\n")
}
