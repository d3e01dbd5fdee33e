//! `store backup`: writes a verified copy of the state, beside the daemon or without one. Holds the
//! progress of copying or reading many bytes, too, which is shown once it takes a while.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use tokio::time::Instant;

use crate::base::clock::{Clock, SystemClock};
use crate::base::wording::count_noun;
use crate::cli::args::store::BackupArgs;
use crate::cli::context::machine::counter;
use crate::cli::context::open::Context;
use crate::cli::context::session::daemon;
use crate::cli::exit::{CommandFailure, Exit, local_only};
use crate::cli::print::Printer;
use crate::cli::remote::daemon::Daemon;
use crate::engine::protocol::query::OverviewQuery;
use crate::render::progress::Counter;
use crate::store::backup::error::BackupError;
use crate::store::backup::kept::BackupManifest;
use crate::store::backup::proof::VerifiedBackup;
use crate::store::backup::write;
use crate::store::backup::write::{BackupSource, Compactions};
use crate::store::disk::real::RealDisk;
use crate::store::disk::traits::Disk;
use crate::store::journal::chain::Head;

/// Attempts of one copy, at most.
const TRIES_MAX: usize = 5;

/// Output of `store backup`.
#[derive(Debug, Serialize)]
struct BackupOutput {
    backup: String,
    resources: usize,
    open_intents: usize,
    bytes: u64,
    #[serde(rename = "manifest")]
    manifest: BackupManifest,
}

/// Runs the command.
pub(crate) async fn run(
    setup: &Context,
    args: &BackupArgs,
    out: Printer,
) -> Result<Exit, CommandFailure> {
    if setup.server.is_some() {
        return Err(local_only(
            "`store backup`",
            "it copies the files of the state on the daemon's machine",
        ));
    }
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
    out.result(&report, || text(&report))?;
    Ok(Exit::Done)
}

/// Copies the state beside the daemon; tries again if the daemon compacts it meanwhile.
async fn copy_beside_daemon(
    setup: &Context,
    client: &Daemon,
    to: &Path,
) -> Result<(BackupManifest, VerifiedBackup), CommandFailure> {
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

fn compactions(setup: &Context) -> Result<Compactions, CommandFailure> {
    Compactions::of(&disk(setup, "journal")?, &disk(setup, "vault")?).map_err(backup_failure)
}

/// Returns the daemon's last durable record.
async fn head(client: &Daemon) -> Result<Head, CommandFailure> {
    let overview = client.send(OverviewQuery).await?;
    let hash = data_encoding::HEXLOWER.decode(overview.head.as_bytes()).unwrap_or_default();
    let hash = hash.try_into().map_err(|_| {
        CommandFailure::bug(
            "internal error: the head is not a \
        hash",
        )
    })?;
    Ok(Head { sequence: overview.position, hash })
}

/// Copies the state up to this head.
fn copy(
    setup: &Context,
    (head, compactions): (Head, Option<Compactions>),
    to: &Path,
) -> Result<Result<(BackupManifest, VerifiedBackup), BackupError>, CommandFailure> {
    let source = BackupSource {
        journal: disk(setup, "journal")?,
        archive: if setup.state.join("archive").is_dir() {
            Some(disk(setup, "archive")?)
        } else {
            None
        },
        vault: disk(setup, "vault")?,
        head,
        at: SystemClock.now(),
        compactions,
    };
    let mut slow = SlowProgress::new("MiB copied");
    Ok(write::write(&source, to, &setup.existing_key()?, &mut |done, of| slow.set(done, of)))
}

fn disk(setup: &Context, part: &str) -> Result<Arc<dyn Disk>, CommandFailure> {
    let path = setup.state.join(part);
    let opened = RealDisk::open(&path).map_err(|error| {
        CommandFailure::environment(
            "reckon::state::dir",
            format!("open {}: {error}", path.display()),
        )
    })?;
    Ok(Arc::new(opened))
}

/// Returns the failure of a backup that cannot be written or read.
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

/// Formats the report for people.
fn text(report: &BackupOutput) -> String {
    let manifest = &report.manifest;
    let lines = [
        format!("backup        {}", report.backup),
        format!("partner       {}, epoch {}", manifest.partner, manifest.epoch),
        format!(
            "journal       {}, every one verified in the copy",
            count_noun(manifest.sequence, "record")
        ),
        format!("head          {}", manifest.head),
        format!("state digest  {}", manifest.state_digest),
        format!(
            "resources     {}, {}",
            report.resources,
            count_noun(report.open_intents, "open intent")
        ),
        format!("key           {} (it is not in the backup: keep it elsewhere)", manifest.key),
    ];
    lines.join("\n")
}

// Progress of copying or reading many bytes: shown only once it takes a while.

/// Time before progress is shown.
const PATIENCE: Duration = Duration::from_millis(500);

/// Counts mebibytes at a terminal.
pub(crate) struct SlowProgress {
    started: Instant,
    what: &'static str,
    shown: Option<(u64, Counter)>,
}

impl SlowProgress {
    /// Creates a counter that shows nothing yet.
    pub(crate) fn new(what: &'static str) -> Self {
        Self { started: Instant::now(), what, shown: None }
    }

    /// Sets the bytes that are done, and their total.
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
