//! `store backup` writes a verified copy of the state, beside the daemon or without one; `store
//! restore` puts a backup in the place of a state, and `store release` ends the doubt about effects
//! since the backup. Progress is shown once copying or reading takes a while.

use std::path::Path;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use tokio::time::Instant;

use crate::base::clock::{Clock, SystemClock};
use crate::base::id::Key;
use crate::base::wording::count_noun;
use crate::cli::args::store::{BackupArgs, ReleaseArgs, RestoreArgs};
use crate::cli::commands::get;
use crate::cli::context::machine::{self, counter};
use crate::cli::context::open::Context;
use crate::cli::context::session::{StateSession, daemon};
use crate::cli::context::state_handle::make_dir;
use crate::cli::exit::{CommandFailure, CommandResult};
use crate::cli::remote::Daemon;
use crate::control::requests::Release;
use crate::engine::protocol::query::OverviewQuery;
use crate::model::effect::is_action;
use crate::model::state::lifecycle::{ReleaseRequest, Restored};
use crate::render::progress::Counter;
use crate::store::backup::manifest::{BackupError, BackupManifest, ExistingBackup};
use crate::store::backup::restore::{
    RestoreError, RestoreRequest, RestoreResult, VerifiedBackup, restore,
};
use crate::store::backup::write::{self, BackupSource, Compactions};
use crate::store::journal::chain::Head;

const TRIES_MAX: usize = 5;

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct BackupOutput {
    backup: String,
    resources: usize,
    open_intents: usize,
    bytes: u64,
    manifest: BackupManifest,
}

pub(crate) async fn run(setup: &Context, args: &BackupArgs) -> CommandResult {
    let why = "it copies the files of the state on the daemon's machine";
    setup.require_local("`store backup`", why)?;
    let (manifest, proof) = if let Some(client) = daemon(setup).await? {
        copy_beside_daemon(setup, &client, &args.to).await?
    } else {
        let open = setup.open_state(false).await?;
        let copied = copy(setup, (open.state.writer.head(), None), &args.to);
        open.state.close().await?;
        copied?.map_err(backup_failure)?
    };
    let report = BackupOutput {
        backup: args.to.display().to_string(),
        resources: proof.resources,
        open_intents: proof.open_intents,
        bytes: manifest.bytes(),
        manifest,
    };
    setup.out.finish(&report, || backup_text(&report))
}

/// Copies the state beside the daemon; tries again if the daemon compacts it meanwhile.
async fn copy_beside_daemon(
    setup: &Context,
    client: &Daemon,
    to: &Path,
) -> CommandResult<(BackupManifest, VerifiedBackup)> {
    for _ in 1..TRIES_MAX {
        let compactions = compactions(setup)?;
        let copied = copy(setup, (head(client).await?, Some(compactions)), to)?;
        if !matches!(copied, Err(BackupError::Compacted)) {
            return copied.map_err(backup_failure);
        }
    }
    let compactions = compactions(setup)?;
    copy(setup, (head(client).await?, Some(compactions)), to)?.map_err(backup_failure)
}

fn compactions(setup: &Context) -> CommandResult<Compactions> {
    Compactions::of(&setup.disk("journal")?, &setup.disk("vault")?).map_err(backup_failure)
}

/// Returns the daemon's last durable record.
async fn head(client: &Daemon) -> CommandResult<Head> {
    let overview = client.send(OverviewQuery).await?;
    let hash = data_encoding::HEXLOWER.decode(overview.head.as_bytes()).unwrap_or_default();
    let wrong = |_| CommandFailure::bug("internal error: the head is not a hash");
    Ok(Head { sequence: overview.position, hash: hash.try_into().map_err(wrong)? })
}

fn copy(
    setup: &Context,
    (head, compactions): (Head, Option<Compactions>),
    to: &Path,
) -> CommandResult<Result<(BackupManifest, VerifiedBackup), BackupError>> {
    let source = BackupSource {
        journal: setup.disk("journal")?,
        archive: setup.archive_disk()?,
        vault: setup.disk("vault")?,
        head,
        at: SystemClock.now(),
        compactions,
    };
    let mut slow = SlowProgress::new("MiB copied");
    Ok(write::write(&source, to, &setup.existing_key()?, &mut |done, of| slow.set(done, of)))
}

pub(crate) fn backup_failure(error: BackupError) -> CommandFailure {
    match error {
        BackupError::Occupied { .. } | BackupError::Unreadable { .. } => {
            CommandFailure::input("reckon::backup::place", error)
        }
        BackupError::Empty => CommandFailure::input("reckon::backup::empty", error),
        BackupError::Io { .. }
        | BackupError::Journal(_)
        | BackupError::Compacted
        | BackupError::Unverified { .. } => {
            CommandFailure::environment("reckon::backup::failed", error)
        }
    }
}

fn backup_text(report: &BackupOutput) -> String {
    let manifest = &report.manifest;
    let records = count_noun(manifest.sequence, "record");
    let intents = count_noun(report.open_intents, "open intent");
    let lines = [
        format!("backup        {}", report.backup),
        format!("partner       {}, epoch {}", manifest.partner, manifest.epoch),
        format!("journal       {records}, every one verified in the copy"),
        format!("head          {}", manifest.head),
        format!("state digest  {}", manifest.state_digest),
        format!("resources     {}, {intents}", report.resources),
        format!("key           {} (it is not in the backup: keep it elsewhere)", manifest.key),
    ];
    lines.join("\n")
}

/// Progress is shown only once copying or reading takes this long.
const PATIENCE: Duration = Duration::from_millis(500);

/// Counts mebibytes at a terminal.
pub(crate) struct SlowProgress {
    started: Instant,
    what: &'static str,
    shown: Option<(u64, Counter)>,
}

impl SlowProgress {
    pub(crate) fn new(what: &'static str) -> Self {
        Self { started: Instant::now(), what, shown: None }
    }

    pub(crate) fn set(&mut self, done: u64, of: u64) {
        if self.started.elapsed() < PATIENCE {
            return;
        }
        let (done, of) = (mebibytes(done), mebibytes(of));
        if self.shown.as_ref().is_none_or(|(total, _)| *total != of) {
            // The previous counter is removed first.
            self.shown = None;
            self.shown = Some((of, counter(of, self.what)));
        }
        if let Some((_, counter)) = &self.shown {
            counter.set(done);
        }
    }
}

fn mebibytes(bytes: u64) -> u64 {
    bytes.checked_shr(20).unwrap_or(0)
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RestoreOutput {
    restored: Restored,
    records: u64,
    moved_aside: Option<String>,
    nothing_since: bool,
}

pub(crate) async fn restore_backup(setup: &Context, args: &RestoreArgs) -> CommandResult {
    if daemon(setup).await?.is_some() {
        let what = format!("a running daemon holds the state {}", setup.state.display());
        return Err(CommandFailure::environment("reckon::state::locked", what)
            .help("stop the daemon first"));
    }
    let kept = ExistingBackup::open(&args.from).map_err(backup_failure)?;
    let wanted = RestoreRequest {
        opening: setup.opening(true)?,
        partner: setup.partner().ok(),
        replace: args.replace,
        nothing_since: args.nothing_since,
        at: SystemClock.now(),
        actor: machine::actor(),
    };
    let key = setup.existing_key()?;
    make_dir(&setup.state)?;
    let mut slow = SlowProgress::new("MiB read or copied");
    let done = restore(&kept, &wanted, &key, &mut |done, of| slow.set(done, of)).await;
    drop(slow);
    let RestoreResult { epoch: restored, aside, sequence } = done.map_err(restore_failure)?;
    let report = RestoreOutput {
        restored,
        records: sequence,
        moved_aside: aside.map(|path| path.display().to_string()),
        nothing_since: args.nothing_since,
    };
    setup.out.finish(&report, || restore_text(&report))
}

fn restore_failure(error: RestoreError) -> CommandFailure {
    match error {
        RestoreError::Backup(error) => backup_failure(error),
        RestoreError::Open(error) => error.into(),
        RestoreError::Occupied { .. } => CommandFailure::input("reckon::restore::occupied", error)
            .help("add --replace to move the present state aside; nothing is deleted"),
        RestoreError::Unverified { .. } => {
            CommandFailure::environment("reckon::restore::unproved", error)
                .help("use another backup, or the key that this one was made with")
        }
        RestoreError::Io { .. } => CommandFailure::environment("reckon::restore::failed", error),
    }
}

fn restore_text(report: &RestoreOutput) -> String {
    let RestoreOutput { restored, records, moved_aside, nothing_since } = report;
    let mut lines = vec![
        format!(
            "restored      epoch {}, from the backup of {}",
            restored.epoch, restored.backup_at
        ),
        format!("journal       {}", count_noun(*records, "record")),
    ];
    if let Some(path) = moved_aside {
        lines.push(format!("moved aside   {path}"));
    }
    lines.push(if *nothing_since {
        "since then    nothing was sent, as you declared".to_owned()
    } else {
        "since then    unknown: reckon reads every merchant again, looks for each effect at the \
        service before sending it, and holds effects that cannot be looked for. `reckon plan` \
        lists them; `reckon store release` releases them."
            .to_owned()
    });
    lines.join("\n")
}

pub(crate) async fn release(setup: &Context, args: &ReleaseArgs) -> CommandResult {
    let keys = args.what.iter().map(|text| get::parse_resource_or_action(text));
    let keys: Vec<Key> = keys.collect::<Result<_, _>>()?;
    if let Some(other) = keys.iter().find(|key| args.done && !is_action(key)) {
        let what = format!("{} is not an action of a hook", other.short());
        return Err(CommandFailure::input("reckon::release::done", what)
            .help("list waiting actions (Action/hook-…) with `reckon events failed`"));
    }
    let said = ReleaseRequest { keys: keys.clone(), done: args.done };
    let mut session = StateSession::open(setup).await?;
    let done = session.record(Release(said)).await;
    if !session.end(setup, done).await? {
        let what = "nothing to release: no backup was ever restored into this state";
        return Err(CommandFailure::input("reckon::release::none", what));
    }
    let told = if args.done {
        "recorded: done since the backup; not done again".to_owned()
    } else if keys.is_empty() {
        "recorded: nothing was sent since the backup".to_owned()
    } else {
        let names: Vec<String> = keys.iter().map(Key::short).collect();
        format!("recorded: not made since the backup: {}", names.join(", "))
    };
    setup.out.finish(&keys, || told)
}
