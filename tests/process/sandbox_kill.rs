//! `kill -9` under load: what a sandbox has answered is there when it starts again, and nothing is half done.
//!
//! Some clients ask at once and without a pause; the process is killed when so many of their requests were answered,
//! a number that the seed gives, and started again on the same state.

use crate::support::sandbox_process;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;

use tokio::sync::mpsc;
use tokio::task::JoinSet;

mod ask;
mod check;
mod client;

use crate::random::Random;
use crate::support::sandbox_process::Sandbox;
use ask::Keys;
use client::Answered;

/// When its clock starts: an hour of the merchant's night in which nothing falls due by itself.
const START: &str = "2030-01-15T08:00:00Z";
/// Folders, each with a state of its own.
const STORIES: u64 = 5;
/// Kills of the sandbox in each.
const KILLS: u64 = 10;
const CLIENTS: u64 = 4;
/// The process is killed after fewer answers than this.
const ANSWERS_MAX: u64 = 50;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_answered_outlives_every_kill_and_nothing_is_half_done() {
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for seed in 0..STORIES {
        for answered in story(seed).await {
            *kinds.entry(answered.kind).or_default() += 1;
        }
    }
    let all = ["cards", client::CLOCK, "contacts", "recurring_charges", "transactions"];
    assert_eq!(kinds.keys().copied().collect::<Vec<_>>(), all, "every kind was answered");
}

/// Starts a sandbox on the state in this folder, and waits until it listens.
fn started(state: &Path) -> Sandbox {
    sandbox_process::listening(sandbox_process::command(state, &["--clock", START]))
        .expect("the sandbox starts")
}

/// Kills a sandbox again and again; everything that it has answered in its lives.
async fn story(seed: u64) -> Vec<Answered> {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("sandbox");
    let mut random = Random::new(seed);
    let mut answered = Vec::new();
    let mut sandbox = started(&state);
    let keys = Keys::of(sandbox.address).await;
    for _ in 0..KILLS {
        let before = answered.len();
        answered = live(sandbox, &keys, &mut random, answered).await;
        sandbox = started(&state);
        check::whole(sandbox.address, &keys, &answered, &answered[before..]).await;
    }
    answered
}

/// One life of a sandbox under load, to its death: what was answered until then.
async fn live(
    sandbox: Sandbox,
    keys: &Keys,
    random: &mut Random,
    mut answered: Vec<Answered>,
) -> Vec<Answered> {
    let (told, mut hears) = mpsc::unbounded_channel();
    let mut clients = clients(sandbox.address, keys, random, &answered, &told);
    drop(told);
    for _ in 0..random.below(ANSWERS_MAX) {
        match hears.recv().await {
            Some(one) => answered.push(one),
            None => break,
        }
    }
    drop(sandbox);
    while let Some(ended) = clients.join_next().await {
        ended.expect("a client got only answers that it understands");
    }
    while let Some(one) = hears.recv().await {
        answered.push(one);
    }
    answered
}

fn clients(
    address: SocketAddr,
    keys: &Keys,
    random: &mut Random,
    known: &[Answered],
    told: &mpsc::UnboundedSender<Answered>,
) -> JoinSet<()> {
    let mut clients = JoinSet::new();
    for _ in 0..CLIENTS {
        let (seed, told) = (random.below(u64::MAX), told.clone());
        let client = client::run(address, keys.clone(), Random::new(seed), known.to_vec(), told);
        clients.spawn(client);
    }
    clients
}
