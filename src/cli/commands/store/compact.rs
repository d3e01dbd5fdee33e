//! `store compact`: a sealed snapshot replaces the records so far, and values that neither journal
//! nor archive needs are deleted.

use serde::Serialize;

use crate::base::clock::{Clock, SystemClock};
use crate::base::wording::count_noun;
use crate::cli::args::store::CompactArgs;
use crate::cli::context::machine;
use crate::cli::context::open::Context;
use crate::cli::context::session::daemon;
use crate::cli::exit::{CommandFailure, Exit, local_only};
use crate::cli::print::Printer;
use crate::cli::remote::daemon::Daemon;
use crate::config::setting::ProcessEnv;
use crate::config::store::ArchiveRetention;
use crate::control::requests::Compact;
use crate::model::state::lifecycle::Compacted;
use crate::render::bytes::bytes;
use crate::store::state::compact::{ArchivePolicy, CompactionRequest, CompactionResult, Sizes};

/// Output of `store compact`.
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

/// Runs the command.
pub(crate) async fn run(
    setup: &Context,
    args: &CompactArgs,
    out: Printer,
) -> Result<Exit, CommandFailure> {
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
    out.result(&report, || text(&report))?;
    Ok(Exit::Done)
}

/// Has the daemon compact the state.
async fn compact_by_daemon(
    client: &Daemon,
    drop_history: bool,
) -> Result<CompactionResult, CommandFailure> {
    let done = client.send(Compact(drop_history)).await?;
    let done = done.map_err(|why| CommandFailure::environment("reckon::store::compact", why))?;
    Ok(*done)
}

/// Compacts the state where no daemon runs.
async fn compact_here(
    setup: &Context,
    drop_history: bool,
) -> Result<CompactionResult, CommandFailure> {
    let history = if drop_history { ArchivePolicy::Drop } else { history(setup)? };
    let open = setup.open_state(false).await?;
    let wanted = CompactionRequest { history, at: SystemClock.now(), actor: machine::actor() };
    Ok(open.state.compact(&wanted).await?)
}

/// Returns the configured treatment of the records that a snapshot replaces.
pub(crate) fn history(setup: &Context) -> Result<ArchivePolicy, CommandFailure> {
    let config = &setup.config;
    Ok(match config.store.archive_retention(&config.events, &ProcessEnv)? {
        ArchiveRetention::Keep => ArchivePolicy::Keep,
        ArchiveRetention::Drop => ArchivePolicy::Drop,
        ArchiveRetention::For(time) => {
            ArchivePolicy::KeepFor(i64::try_from(time.as_secs()).unwrap_or(i64::MAX))
        }
    })
}

/// Formats the report for people.
fn text(report: &CompactOutput) -> String {
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
