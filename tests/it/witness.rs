//! States and records of earlier programs. Their bytes stay as they are, they fold to the same digest, and a daemon
//! over them does nothing a second time.
//!
//! `tests/fixtures/witness/README.md` describes how they were made.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use crate::support::world::World;
use reckon::model::record::Record;
use reckon::sandbox::options::ServiceSurface;
use reckon::store::disk::traits::{Disk, MemoryDisk};
use reckon::store::error::OpenReport;
use reckon::store::index::ordered::{Batch, Index, MemoryIndex};
use reckon::store::read_model::model::ReadModel;
use reckon::store::state::open::{StateParts, assemble};
use reckon::store::vault::key::MasterKey;

/// Key of every fixture.
const KEY: [u8; 32] = [7; 32];

/// States, each with the digest of its fold.
const STATES: [(&str, ServiceSurface, &str); 4] = [
    (
        "52c0f8a-public",
        ServiceSurface::Public,
        "19277e417a2c3137f297f0b2cb89a50ac2079686be530ab263d48268a6b45781",
    ),
    (
        "52c0f8a-documented",
        ServiceSurface::Documented,
        "46ba76d6198f33c767e1c2a228a3348c256c035fc2e93aa4307d22ad5b543332",
    ),
    (
        "d938a0c-public",
        ServiceSurface::Public,
        "85825e62fd72087bafe1b8c0fab7f18771e7596c8d59016c9a30e811ac3b6f7e",
    ),
    (
        "d938a0c-documented",
        ServiceSurface::Documented,
        "2040c50502b97eca3140226cd71ed969638e6236ec55a7d383f41a0bf72ae312",
    ),
];

/// Lists of the service whose objects an effect could double.
const LISTS: [&str; 7] =
    ["contacts", "invoices", "cards", "banks", "recurring_charges", "applications", "transactions"];

/// Documents that no fixture has.
const LATER: &str = "apiVersion: reckon.dev/v1
kind: Merchant
metadata: {name: later}
spec: {mode: test, timezone: America/Chicago, credentials: {authorization_code: {env: CODE_LATER}}}
---
apiVersion: reckon.dev/v1
kind: SavedMethod
metadata: {name: later}
spec:
  merchant: later
  type: card
  source: {card: {number: '4242424242424242', exp_month: 12, exp_year: 2039}}
";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/witness")
}

/// Loads a folder of files into a disk in memory.
fn disk(folder: &Path) -> MemoryDisk {
    let disk = MemoryDisk::new();
    for file in fs::read_dir(folder).unwrap() {
        let file = file.unwrap();
        disk.replace(file.file_name().to_str().unwrap(), &fs::read(file.path()).unwrap()).unwrap();
    }
    disk
}

/// Builds a world over a fixture, with the emulator of that time. Returns it with the digest of the fold.
fn restored(name: &str, surface: ServiceSurface) -> (World, String) {
    let folder = folder().join(name);
    let snapshot = fs::read(folder.join("sandbox.json")).unwrap();
    let snapshot: Value = serde_json::from_slice(&snapshot).unwrap();
    let mut world =
        World::seeded(surface, "2027-01-15T08:00:00Z", snapshot["seed"].as_u64().unwrap());
    (world.journal, world.vault) = (disk(&folder.join("journal")), disk(&folder.join("vault")));
    (world.digest_key, world.sandbox_clock) = (KEY, true);
    let secrets = [
        ("BORN", "1980-02-29"),
        ("LICENSE", "C000-0000"),
        ("SIGNATURE", r#"[{"lx":1,"ly":2,"mx":3,"my":4}]"#),
    ];
    world.files = secrets.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    for number in 0..10 {
        let letter = format!("letter-{number}.txt");
        world.attach(&letter, &letter);
    }
    let answer = world.control("POST", "restore", &snapshot);
    assert!(answer.get("messages").is_none(), "{name}: {answer}");
    world.write(&fs::read_to_string(folder.join("tree.yaml")).unwrap());
    let digest = fold(&world);
    (world, digest)
}

/// Folds the journal of a world into its index. Returns the digest.
fn fold(world: &World) -> String {
    let pieces = StateParts {
        journal: Arc::new(world.journal.clone()),
        vault: Arc::new(world.vault.clone()),
        index: world.index.clone(),
        boot: "witness".to_owned(),
        rebuild: false,
        segment_bytes: 1 << 20,
        watch: None,
    };
    let assembled = assemble(pieces, &MasterKey::new(KEY), OpenReport::default()).unwrap();
    assembled.journal.verify().unwrap();
    digest_of_fold_12(&*world.index)
}

/// Prefix of the event ledgers in an index.
const LEDGERS: &[u8] = b"v/l/";

/// Prefix of the places of an event's records.
const EVENT_RECORDS: &[u8] = b"w/j/";

/// Returns the digest as the fold of version 12 had it. Version 13 counts payments in the ledgers of events, version 14
/// notes the records of each event, and they differ in nothing else.
fn digest_of_fold_12(index: &dyn Index) -> String {
    let mut batch = Batch::new();
    let entries = index.scan(b"").unwrap().into_iter();
    for (key, value) in entries.filter(|(key, _)| !key.starts_with(EVENT_RECORDS)) {
        let value = if key.starts_with(LEDGERS) { without_payments(&value) } else { value };
        batch.put(key, value);
    }
    let copy = MemoryIndex::new();
    copy.apply(batch).unwrap();
    ReadModel::new(Arc::new(copy)).digest().unwrap().to_string()
}

fn without_payments(ledger: &[u8]) -> Vec<u8> {
    let mut fields: ciborium::Value = ciborium::from_reader(ledger).unwrap();
    let map = fields.as_map_mut().unwrap();
    let before = map.len();
    map.retain(|(name, _)| name.as_text() != Some("payments"));
    assert_eq!(map.len() + 1, before, "one count of payments");
    let mut bytes = Vec::new();
    ciborium::into_writer(&fields, &mut bytes).unwrap();
    bytes
}

fn counts(world: &World) -> BTreeMap<&'static str, usize> {
    LISTS.iter().map(|list| (*list, world.objects(list).len())).collect()
}

#[test]
fn a_state_of_an_earlier_program_folds_to_the_same_digest() {
    for (name, surface, digest) in STATES {
        let (_world, folded) = restored(name, surface);
        assert_eq!(folded, digest, "{name}");
    }
}

/// Small states that together have every record and every effect that the larger states lack.
#[test]
fn each_world_of_an_earlier_program_folds_to_the_same_digest() {
    let worlds = folder().join("worlds");
    let kept = fs::read_to_string(worlds.join("digests")).unwrap();
    let names = kept.lines().map(|line| line.split(' ').next().unwrap());
    let digests = names.map(|name| {
        let mut world = World::new(ServiceSurface::Public, "2027-01-15T08:00:00Z");
        let part = |part| disk(&worlds.join(name).join(part));
        (world.journal, world.vault) = (part("journal"), part("vault"));
        format!("{name} {}", fold(&world))
    });
    assert_eq!(digests.collect::<Vec<_>>(), kept.lines().collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn a_daemon_over_a_state_of_an_earlier_program_goes_on_and_does_nothing_a_second_time() {
    for (name, surface, _) in STATES {
        let (world, _) = restored(name, surface);
        let before = counts(&world);
        let plan = world.settle().await;
        assert_eq!(counts(&world), before, "{name}: {plan:#?}");
        assert!(before.values().sum::<usize>() > 10, "{name}: {before:?}");
        world.write_beside("later.yaml", LATER);
        let plan = world.settle().await;
        let mut expected = before;
        *expected.entry("cards").or_default() += 1;
        assert_eq!(counts(&world), expected, "{name}: {plan:#?}");
    }
}

/// The bytes of a record stay as its program wrote them, for every variant and every field, in both directions.
#[test]
fn every_record_keeps_its_bytes() {
    let kept = fs::read(folder().join("records.cbor")).unwrap();
    let mut rest = kept.as_slice();
    let mut kinds = BTreeMap::<String, u32>::new();
    while !rest.is_empty() {
        let before = rest;
        let record: Record = ciborium::from_reader(&mut rest).unwrap();
        let mut bytes = Vec::new();
        ciborium::into_writer(&record, &mut bytes).unwrap();
        assert_eq!(bytes, &before[..before.len() - rest.len()], "{record:?}");
        let kind = serde_json::to_value(&record).unwrap();
        let kind = kind.as_object().and_then(|one| one.keys().next().cloned());
        *kinds.entry(kind.unwrap_or_default()).or_default() += 1;
    }
    assert_eq!(kinds.values().sum::<u32>(), 809);
    assert_eq!(kinds.len(), 41, "{kinds:?}");
}
