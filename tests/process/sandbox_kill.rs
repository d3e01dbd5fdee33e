//! `kill -9` under load: a restarted sandbox has everything that it answered before, and no change is half done.
//!
//! Several clients send requests at once and without a pause. The test kills the process after a number of answers that
//! the seed gives, and starts it again on the same state.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;

use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::support::sandbox_process;

mod ask;
mod check;
mod client;

use crate::random::Random;
use crate::support::sandbox_process::Sandbox;
use ask::Keys;
use client::Answered;

/// The start of the sandbox's clock: an hour of the merchant's night in which nothing falls due by itself.
const START: &str = "2030-01-15T08:00:00Z";
/// Number of folders, each with a state of its own.
const STORIES: u64 = 5;
/// Number of kills in each folder.
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

/// Kills a sandbox again and again; returns everything that it answered.
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

/// Runs a sandbox under load and kills it; returns everything that was answered up to then.
async fn live(
    sandbox: Sandbox,
    keys: &Keys,
    random: &mut Random,
    mut answered: Vec<Answered>,
) -> Vec<Answered> {
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let mut clients = clients(sandbox.address, keys, random, &answered, &sender);
    drop(sender);
    for _ in 0..random.below(ANSWERS_MAX) {
        match receiver.recv().await {
            Some(one) => answered.push(one),
            None => break,
        }
    }
    drop(sandbox);
    while let Some(ended) = clients.join_next().await {
        ended.expect("a client got only answers that it understands");
    }
    while let Some(one) = receiver.recv().await {
        answered.push(one);
    }
    answered
}

fn clients(
    address: SocketAddr,
    keys: &Keys,
    random: &mut Random,
    known: &[Answered],
    sender: &mpsc::UnboundedSender<Answered>,
) -> JoinSet<()> {
    let mut clients = JoinSet::new();
    for _ in 0..CLIENTS {
        let (seed, sender) = (random.below(u64::MAX), sender.clone());
        let client = client::run(address, keys.clone(), Random::new(seed), known.to_vec(), sender);
        clients.spawn(client);
    }
    clients
}
