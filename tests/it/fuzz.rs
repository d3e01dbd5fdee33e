//! Runs the fuzz targets of `fuzz/` for some seconds each, on seeds of the corpus with random changes.

#[path = "../../fuzz/src/targets.rs"]
#[expect(unreachable_pub, reason = "the fuzz crate has the same file, and exports it")]
mod targets;

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, TestRunner};

/// A change of a seed.
#[derive(Debug, Clone)]
enum Edit {
    Put(Index, Vec<u8>),
    Insert(Index, Vec<u8>),
    Remove(Index, Index),
    Repeat(Index, Index, u8),
    Flip(Index, u8),
}

/// Texts that parsers treat specially.
const WORDS: [&str; 24] = [
    "---\n",
    "...\n",
    "%YAML 1.2\n",
    "&a ",
    "*a",
    "!!str ",
    "<<: ",
    "? ",
    "|\n",
    ">-\n",
    "\t",
    "\r",
    "\u{feff}",
    "\0",
    "\u{85}",
    "{",
    "[",
    "\"",
    "'",
    "null",
    "1e999",
    "-9223372036854775809",
    "{env: HOME}",
    "4242424242424242",
];

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let word = (0..WORDS.len()).prop_map(|at| WORDS[at].as_bytes().to_vec());
    prop_oneof![prop::collection::vec(any::<u8>(), 1..9), word]
}

fn edit() -> impl Strategy<Value = Edit> {
    let at = any::<Index>;
    prop_oneof![
        (at(), bytes()).prop_map(|(at, bytes)| Edit::Put(at, bytes)),
        (at(), bytes()).prop_map(|(at, bytes)| Edit::Insert(at, bytes)),
        (at(), at()).prop_map(|(from, to)| Edit::Remove(from, to)),
        (at(), at(), 1_u8..20).prop_map(|(from, to, times)| Edit::Repeat(from, to, times)),
        (at(), 0_u8..8).prop_map(|(at, bit)| Edit::Flip(at, bit)),
    ]
}

fn changed(mut seed: Vec<u8>, edits: &[Edit]) -> Vec<u8> {
    for edit in edits {
        let place = |at: &Index| at.index(seed.len() + 1);
        match edit {
            Edit::Put(at, bytes) => {
                let start = place(at);
                let end = (start + bytes.len()).min(seed.len());
                seed.splice(start..end, bytes.iter().copied());
            }
            Edit::Insert(at, bytes) => {
                let start = place(at);
                seed.splice(start..start, bytes.iter().copied());
            }
            Edit::Remove(from, to) => {
                let (from, to) = (place(from), place(to));
                seed.drain(from.min(to)..from.max(to));
            }
            Edit::Repeat(from, to, times) => {
                let (from, to) = (place(from), place(to));
                let end = from.max(to).min(from.min(to) + 64);
                let part = seed[from.min(to)..end].repeat(usize::from(*times));
                seed.splice(end..end, part);
            }
            Edit::Flip(at, bit) => {
                if !seed.is_empty() {
                    let at = at.index(seed.len());
                    seed[at] ^= 1 << bit;
                }
            }
        }
    }
    seed
}

/// Returns the seeds of a target that are kept as files.
fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let files = fs::read_dir(folder).unwrap();
    files.map(|file| fs::read(file.unwrap().path()).unwrap()).collect()
}

/// Runs a target over its seeds, unchanged and changed.
fn fuzzed(target: fn(&[u8]), mut seeds: Vec<Vec<u8>>, cases: u32) {
    assert!(!seeds.is_empty(), "a target has seeds");
    for seed in &seeds {
        target(seed);
    }
    seeds.push(Vec::new());
    let strategy = (any::<Index>(), prop::collection::vec(edit(), 1..6));
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let outcome = TestRunner::new(config).run(&strategy, |(seed, edits)| {
        target(&changed(seeds[seed.index(seeds.len())].clone(), &edits));
        Ok(())
    });
    outcome.unwrap();
}

#[test]
fn documents() {
    fuzzed(targets::documents, corpus("documents"), 400);
}

#[test]
fn configuration() {
    fuzzed(targets::configuration, corpus("configuration"), 1500);
}

#[test]
fn posted_event() {
    fuzzed(targets::posted_event, corpus("posted_event"), 10_000);
}

#[test]
fn control_request() {
    fuzzed(targets::control_request, corpus("control_request"), 10_000);
}

#[test]
fn journal_frames() {
    fuzzed(targets::journal_frames, vec![targets::journal_seed()], 5_000);
}

#[test]
fn vault_frames() {
    fuzzed(targets::vault_frames, vec![targets::vault_seed()], 1_500);
}

#[test]
fn approval_file() {
    fuzzed(targets::approval_file, corpus("approval_file"), 3_000);
}

#[test]
fn saved_plan() {
    fuzzed(targets::saved_plan, corpus("saved_plan"), 10_000);
}
