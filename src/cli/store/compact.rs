//! `store compact`: a sealed snapshot takes the place of the records so far.

use std::sync::Arc;

use serde::Serialize;

use crate::base::clock::{Clock, SystemClock};
use crate::cli::args::CompactArgs;
use crate::cli::exit::{Exit, Failure};
use crate::cli::host;
use crate::cli::out::Out;
use crate::cli::session::daemon;
use crate::cli::setup::Setup;
use crate::model::compacted::Compacted;
use crate::store::disk::Disk;
use crate::store::open::Compacting;
use crate::store::real_disk::RealDisk;

/// What is printed.
#[derive(Debug, Serialize)]
struct Report {
    compacted: Option<Compacted>,
    snapshot_bytes: usize,
    segments: usize,
    archive: Option<String>,
}

/// Runs the command.
pub(super) async fn run(setup: &Setup, args: &CompactArgs, out: Out) -> Result<Exit, Failure> {
    if daemon(setup).await?.is_some() {
        let what = format!("a daemon holds the state {}", setup.state.display());
        return Err(Failure::environment("reckon::state::locked", what).help("stop it first"));
    }
    let open = setup.open_state(false).await?;
    let path = setup.state.join("archive");
    let archive: Option<Arc<dyn Disk>> = if args.drop_history {
        None
    } else {
        let opened = RealDisk::open(&path).map_err(|error| {
            Failure::environment("reckon::state::dir", format!("make {}: {error}", path.display()))
        })?;
        Some(Arc::new(opened))
    };
    let wanted = Compacting { archive, at: SystemClock.now(), actor: host::actor() };
    let shorter = open.state.compact(&wanted).await?;
    let report = Report {
        snapshot_bytes: shorter.as_ref().map_or(0, |shorter| shorter.bytes),
        segments: shorter.as_ref().map_or(0, |shorter| shorter.segments),
        compacted: shorter.map(|shorter| shorter.compacted),
        archive: (!args.drop_history).then(|| path.display().to_string()),
    };
    out.result(&report, || text(&report))?;
    Ok(Exit::Done)
}

/// The report for people.
fn text(report: &Report) -> String {
    let Some(compacted) = &report.compacted else {
        return "nothing to compact: no record came after the last time".to_owned();
    };
    let kept = report.archive.as_ref().map_or_else(
        || "deleted, as you say".to_owned(),
        |path| format!("kept in {path} for `reckon why`"),
    );
    [
        format!("compacted     records up to {}", compacted.sequence),
        format!("replaces      {}", compacted.replaces),
        format!("snapshot      {}, {} bytes", compacted.snapshot, report.snapshot_bytes),
        format!("segments      {} {kept}", report.segments),
    ]
    .join("\n")
}
