//! `store backup`: writes a verified copy of the state, beside the daemon or without one.

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;

use super::progress::Slow;
use crate::base::clock::{Clock, SystemClock};
use crate::base::counted::counted;
use crate::cli::args::BackupArgs;
use crate::cli::exit::{Exit, Failure};
use crate::cli::out::Out;
use crate::cli::server::{Daemon, local};
use crate::cli::session::daemon;
use crate::cli::setup::Setup;
use crate::engine::{Question, Reply};
use crate::store::backup::{self, BackupError, Compactions, Manifest, Proof, Source};
use crate::store::disk::Disk;
use crate::store::journal::Head;
use crate::store::real_disk::RealDisk;

/// Attempts of one copy, at most.
const TRIES_MAX: usize = 5;

/// Output of `store backup`.
#[derive(Debug, Serialize)]
struct Report {
    backup: String,
    resources: usize,
    open_intents: usize,
    bytes: u64,
    #[serde(rename = "manifest")]
    manifest: Manifest,
}

/// Runs the command.
pub(super) async fn run(setup: &Setup, args: &BackupArgs, out: Out) -> Result<Exit, Failure> {
    if setup.server.is_some() {
        return Err(local(
            "`store backup`",
            "it copies the files of the state, which are on the daemon's machine",
        ));
    }
    let (manifest, proof) = if let Some(client) = daemon(setup).await? {
        beside(setup, &client, &args.to).await?
    } else {
        let open = setup.open_state(false).await?;
        let copied = copy(setup, (open.state.writer.head(), None), &args.to);
        open.state.close().await?;
        copied?.map_err(failed)?
    };
    let report = Report {
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
async fn beside(setup: &Setup, client: &Daemon, to: &Path) -> Result<(Manifest, Proof), Failure> {
    for _ in 1..TRIES_MAX {
        let compactions = compactions(setup)?;
        let copied = copy(setup, (head(client).await?, Some(compactions)), to)?;
        if !matches!(copied, Err(BackupError::Compacted)) {
            return copied.map_err(failed);
        }
    }
    let compactions = compactions(setup)?;
    copy(setup, (head(client).await?, Some(compactions)), to)?.map_err(failed)
}

fn compactions(setup: &Setup) -> Result<Compactions, Failure> {
    Compactions::of(&disk(setup, "journal")?, &disk(setup, "vault")?).map_err(failed)
}

/// Returns the daemon's last durable record.
async fn head(client: &Daemon) -> Result<Head, Failure> {
    let Reply::Overview(overview) = client.ask(&Question::Overview).await? else {
        return Err(Failure::bug("an overview was not answered by one"));
    };
    let hash = data_encoding::HEXLOWER.decode(overview.head.as_bytes()).unwrap_or_default();
    let hash = hash.try_into().map_err(|_| Failure::bug("a head that is no hash"))?;
    Ok(Head { sequence: overview.position, hash })
}

/// Copies the state up to this head.
fn copy(
    setup: &Setup,
    (head, compactions): (Head, Option<Compactions>),
    to: &Path,
) -> Result<Result<(Manifest, Proof), BackupError>, Failure> {
    let source = Source {
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
    let mut slow = Slow::new("MiB copied");
    Ok(backup::write(&source, to, &setup.known_key()?, &mut |done, of| slow.set(done, of)))
}

fn disk(setup: &Setup, part: &str) -> Result<Arc<dyn Disk>, Failure> {
    let path = setup.state.join(part);
    let opened = RealDisk::open(&path).map_err(|error| {
        Failure::environment("reckon::state::dir", format!("open {}: {error}", path.display()))
    })?;
    Ok(Arc::new(opened))
}

/// Returns the failure of a backup that cannot be written or read.
pub(super) fn failed(error: BackupError) -> Failure {
    match error {
        BackupError::Taken { .. } | BackupError::Unreadable { .. } => {
            Failure::input("reckon::backup::place", error)
        }
        BackupError::Empty => Failure::input("reckon::backup::empty", error),
        BackupError::Io { .. }
        | BackupError::Journal(_)
        | BackupError::Compacted
        | BackupError::Unproved { .. } => Failure::environment("reckon::backup::failed", error),
    }
}

/// Formats the report for people.
fn text(report: &Report) -> String {
    let manifest = &report.manifest;
    let lines = [
        format!("backup        {}", report.backup),
        format!("partner       {}, epoch {}", manifest.partner, manifest.epoch),
        format!(
            "journal       {}, every one verified in the copy",
            counted(manifest.sequence, "record")
        ),
        format!("head          {}", manifest.head),
        format!("state digest  {}", manifest.state_digest),
        format!(
            "resources     {}, {}",
            report.resources,
            counted(report.open_intents, "open intent")
        ),
        format!("key           {} (it is not in the backup: keep it elsewhere)", manifest.key),
    ];
    lines.join("\n")
}
