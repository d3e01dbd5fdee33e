//! J1: the journal's group commit, against a bare loop. The loop appends records of the same size to one file, and
//! calls fdatasync once for all waiting writers. Both run in turns, in one run and on the same disk. Neither folds
//! anything.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::Bench;
use crate::connection::Failed;
use crate::figures::{Figure, times, us_each};
use crate::group::append_in_groups;
use crate::report::{Report, Row};
use reckon::store::disk::directory::RealDisk;
use reckon::store::error::StoreError;
use reckon::store::journal::chain::Head;
use reckon::store::journal::files::JournalOptions;
use reckon::store::journal::log::Journal;
use reckon::store::vault::key::MasterKey;
use reckon::store::vault::values::Vault;
use reckon::store::writer::core::{Commit, Fold};
use reckon::store::writer::handle::Writer;

/// Records of each writer in one round.
const RECORDS_EACH: usize = 400;
/// The length of a text that makes a record of 512 bytes on disk, as those of the bare loop are.
const TEXT_BYTES: usize = 448;
/// Numbers of concurrent writers, and the least throughput in hundredths of the bare loop's.
const GOALS: [(usize, u128, &str); 2] =
    [(16, 85, "at least 0.85 of the bare loop"), (64, 70, "at least 0.70 of the bare loop")];

/// Folds nothing: only the journal is measured.
struct Nothing;

impl Fold<String> for Nothing {
    fn apply(&mut self, _: &[(u64, String)], _: Head) -> Result<(), StoreError> {
        Ok(())
    }
}

/// Measures each number of writers; the first of the two programs alternates.
pub(crate) async fn run(bench: &Bench, report: &mut Report) -> Result<(), Failed> {
    for (writers, goal, wanted) in GOALS {
        let count = writers.saturating_mul(RECORDS_EACH);
        let (mut limits, mut journals) = (Vec::new(), Vec::new());
        for round in 0..bench.rounds {
            bench
                .progress
                .say(&format!("J1  {writers} writers, round {}", round.saturating_add(1)));
            let folder = bench.folder(&format!("j1-{writers}-{round}"));
            fs::create_dir_all(&folder)?;
            let bare = folder.join("bare");
            let first = round.is_multiple_of(2);
            if first {
                limits.push(append_in_groups(&bare, count, writers).await?);
            }
            journals.push(append(&folder, writers).await?);
            if !first {
                limits.push(append_in_groups(&bare, count, writers).await?);
            }
            fs::remove_dir_all(&folder)?;
        }
        let (limit, journal) = (Figure::of_costs(limits).median, Figure::of_costs(journals));
        let ratio = times(limit, journal.median);
        report.add(Row {
            goal: format!("J1 group commit, {writers} writers, throughput"),
            count,
            figure: journal.shown(|time| us_each(time, count)),
            limit: us_each(limit, count),
            ratio,
            wanted,
            met: Some(ratio >= goal),
        });
    }
    Ok(())
}

/// Appends through the store's writer, `writers` at a time.
async fn append(folder: &Path, writers: usize) -> Result<Duration, Failed> {
    let disk = |name: &str| RealDisk::open(&folder.join(name)).map(Arc::new);
    let (journal, _) = Journal::open(disk("journal")?, JournalOptions::default())?;
    let vault = Vault::open(disk("vault")?, &MasterKey::new([7; 32]))?;
    let writer = Arc::new(Writer::on_thread(journal, vault, Nothing)?);
    let started = Instant::now();
    let mut running = tokio::task::JoinSet::new();
    for _ in 0..writers {
        let writer = writer.clone();
        running.spawn(async move {
            for _ in 0..RECORDS_EACH {
                writer.append(Commit::of(vec!["x".repeat(TEXT_BYTES)])).await?;
            }
            Ok::<(), StoreError>(())
        });
    }
    while let Some(ended) = running.join_next().await {
        ended??;
    }
    let time = started.elapsed();
    writer.close().await?;
    Ok(time)
}
