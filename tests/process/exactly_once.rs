//! Exactly once, tested from outside. The test kills the built program at random moments while answers are lost.
//! `examples/kill_harness.rs` does the same with larger numbers.

use std::path::PathBuf;

use crate::{kill, proxy, tree};

async fn check(victim: kill::Victim, kinds: tree::Kinds, surface: &str, seed: u64) {
    let folder = tempfile::tempdir().unwrap();
    let trial = kill::Trial {
        victim,
        kinds,
        binary: PathBuf::from(env!("CARGO_BIN_EXE_reckon")),
        folder: folder.path().to_owned(),
        documents: 60,
        kills: 5,
        seed,
        surface: surface.to_owned(),
        odds: proxy::Odds {
            lose_per_mille: 200,
            error_per_mille: 100,
            delay_ms_max: 300,
            spare_reads: victim == kill::Victim::Apply,
        },
        moments_ms: [30, 300],
        waits: ["1s".to_owned(), "1s".to_owned()],
    };
    let report = kill::run(&trial).await.unwrap();
    assert!(report.is_good(), "\n{report}");
    assert!(report.killed > 0, "no run was killed before its end\n{report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_doubled_or_forgotten_by_kills_and_lost_answers() {
    check(kill::Victim::Apply, tree::Kinds::Mixed, "public", 1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_daemon_that_is_killed_neither_doubles_nor_forgets_a_document_of_any_kind() {
    check(kill::Victim::Daemon, tree::Kinds::Every, "public", 3).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_two_documents_alone_are_enough_for_that() {
    check(kill::Victim::Apply, tree::Kinds::Mixed, "documented", 2).await;
}
