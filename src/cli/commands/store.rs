//! `store`: verifies, rebuilds, copies, restores, compacts and rekeys the state on disk.
//!
//! `store compact`: a sealed snapshot replaces the records so far, and values that neither journal
//! nor archive needs are deleted.
//! `store rekey` exchanges the key of the state for another one, beside the daemon or without one.

use std::fmt::Display;
use std::path::PathBuf;
use std::time::Duration;

use chrono::TimeDelta;
use schemars::JsonSchema;
use serde::Serialize;

use crate::base::clock::{Clock, SystemClock, timestamp};
use crate::base::wording::count_noun;
use crate::cli::args::store::{CompactArgs, RekeyArgs, StoreCommand};
use crate::cli::commands::backup;
use crate::cli::context::machine;
use crate::cli::context::open::Context;
use crate::cli::context::session::daemon;
use crate::cli::context::state_handle::StateHandle;
use crate::cli::exit::{CommandFailure, CommandResult, Exit};
use crate::cli::print::Printer;
use crate::config::events::{ArchiveRetention, CompactionMode};
use crate::config::setting::ProcessEnv;
use crate::control::requests::{Compact, Rekey};
use crate::engine::core::retention::{CompactionPlan, Retention};
use crate::model::record::Rekeyed;
use crate::model::state::lifecycle::Compacted;
use crate::render::words::bytes;
use crate::store::error::OpenError;
use crate::store::state::compact::{ArchivePolicy, CompactionRequest, CompactionResult, Sizes};
use crate::store::state::open::{UnreadableValue, unreadable_values};
use crate::store::state::rekey::{RekeyError, RekeyRequest, Rekeyer};
use crate::store::vault::key::MasterKey;
use crate::store::vault::keys::KEYS_FILE;
use crate::store::vault::upkeep::Gap;

/// Interval at which old events are looked for.
const LOOK_EVERY: Duration = Duration::from_hours(1);

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CheckOutput {
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
        StoreCommand::Rekey(args) => rekey(setup, args).await,
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
        let record = report.begins_behind;
        lines.push(format!("begins        after record {record}, at a valid snapshot"));
    }
    lines.extend(report.rekeyed.as_ref().map(rekeyed_line));
    let torn = report.torn.iter();
    lines.extend(torn.map(|gap| format!("no value      {gap}: a torn write, or damage")));
    for ill in &report.problems {
        lines.push(format!("damaged       {} of {}: {}", ill.what, ill.key.short(), ill.why));
    }
    lines.join("\n")
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CompactOutput {
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
    setup.require_local("`store compact`", "it changes the files of the state")?;
    let shorter = match daemon(setup).await? {
        Some(client) => {
            let done = client.send(Compact(args.drop_history)).await?;
            *done.map_err(|why| CommandFailure::environment("reckon::store::compact", why))?
        }
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
    setup.out.finish(&report, || compaction_text(&report))
}

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
    let size = count_noun(report.snapshot_bytes, "byte");
    let mut lines = match &report.compacted {
        None => vec!["nothing to compact: no record since the last compaction".to_owned()],
        Some(compacted) => vec![
            format!("compacted     records up to {}", compacted.sequence),
            format!("replaces      {}", compacted.replaces),
            format!("snapshot      {}, {size}", compacted.snapshot),
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
        let deleted = count_noun(report.archive_dropped, "segment");
        lines.push(format!("archive       {deleted} deleted, {why}"));
    }
    if report.values_dropped > 0 {
        let deleted = count_noun(report.values_dropped, "value");
        lines.push(format!("vault         {deleted} deleted: no longer referenced"));
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

const NEW_KEY_FILE: &str = "reckon::rekey::key_file";

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RekeyOutput {
    rekeyed: Rekeyed,
    /// The file that holds the key now.
    key_file: PathBuf,
    /// True if the operator has to set `secrets.key` to the content of the file.
    set_secrets_key: bool,
}

async fn rekey(setup: &Context, args: &RekeyArgs) -> CommandResult {
    setup.require_local("`store rekey`", "it changes the key of the state")?;
    if !setup.state.join("vault").join(KEYS_FILE).exists() {
        return Err(setup.absent("there is no state"));
    }
    let key_file = new_key_file(setup, args)?;
    if !confirm_rekey(args, setup.out)? {
        setup.out.note("nothing was changed");
        return Ok(Exit::Done);
    }
    let rekeyed = match daemon(setup).await? {
        Some(client) => client.send(Rekey(key_file.clone())).await?.map_err(rekey_failure)?,
        None => rekey_here(setup, key_file.clone()).await?,
    };
    let set_secrets_key = key_file.is_some();
    let own = setup.own_key_file().map(|file| file.path().to_owned());
    let key_file = key_file.or(own).unwrap_or_default();
    let report = RekeyOutput { rekeyed, key_file, set_secrets_key };
    setup.out.finish(&report, || rekey_text(&report))
}

/// Returns the absolute path of the file of the new key; `None` where the command makes the key.
fn new_key_file(setup: &Context, args: &RekeyArgs) -> CommandResult<Option<PathBuf>> {
    let refused = |error: &dyn Display| CommandFailure::input(NEW_KEY_FILE, error);
    let path = match (&args.new_key_file, setup.own_key_file()) {
        (None, Some(_)) => return Ok(None),
        (None, None) => {
            return Err(refused(&RekeyError::NewMissing).help(
                "create a key: `(umask 077; openssl rand -base64 32 > FILE)`, then run `reckon \
                store rekey --new-key-file FILE`",
            ));
        }
        (Some(_), Some(own)) => {
            return Err(refused(&RekeyError::NewUnexpected { path: own.path().to_owned() }));
        }
        (Some(path), None) => path,
    };
    if MasterKey::read_file(path).map_err(|error| refused(&error))?.is_none() {
        return Err(refused(&format!("there is no file {}", path.display())));
    }
    std::path::absolute(path).map(Some).map_err(|error| refused(&error))
}

/// Asks for agreement, since the old key then opens nothing; without a terminal needs `--yes`.
fn confirm_rekey(args: &RekeyArgs, out: Printer) -> CommandResult<bool> {
    if args.yes {
        return Ok(true);
    }
    if !out.interactive {
        let what = "exchange the key: not confirmed, and older backups need the old key";
        let failure = CommandFailure::input("reckon::rekey::unconfirmed", what);
        return Err(failure
            .help("keep the old key with those backups, then run `reckon store rekey --yes`"));
    }
    out.note(
        "The old key will no longer open this state. Older backups need it: keep the key \
        with them.",
    );
    out.confirm("Exchange the key?")
}

/// Exchanges the key where no daemon runs.
async fn rekey_here(setup: &Context, new_key_file: Option<PathBuf>) -> CommandResult<Rekeyed> {
    let open = setup.open_state(false).await?;
    let wanted = RekeyRequest { new_key_file, at: SystemClock.now(), actor: machine::actor() };
    let done = rekeyer(setup, &open)?.rekey(&wanted).await;
    let closed = open.state.close().await;
    let done = done.map_err(|error| rekey_failure(error.to_string()))?;
    closed?;
    Ok(done)
}

pub(crate) fn rekeyer(setup: &Context, open: &StateHandle) -> CommandResult<Rekeyer> {
    Ok(Rekeyer::new(&open.state, setup.own_key_file(), machine::rng()?))
}

fn rekey_failure(why: String) -> CommandFailure {
    CommandFailure::environment("reckon::store::rekey", why)
}

/// Formats the line of `store check`.
fn rekeyed_line(rekeyed: &Rekeyed) -> String {
    let Rekeyed { generation, at, actor } = rekeyed;
    let times = if *generation == 1 { "once".to_owned() } else { format!("{generation} times") };
    format!("key           exchanged {times}, last at {} by {actor}", timestamp(at))
}

fn rekey_text(report: &RekeyOutput) -> String {
    let path = report.key_file.display();
    let next = if report.set_secrets_key {
        format!(
            "next          set secrets.key to the content of {path} now; until then no command opens \
            the state"
        )
    } else {
        format!("new key       {path}")
    };
    let lines = [
        rekeyed_line(&report.rekeyed),
        next,
        "backups       older ones need the old key; `reckon store backup` makes one with the new \
        key"
        .to_owned(),
    ];
    lines.join("\n")
}
