use std::sync::Arc;

use chrono::DateTime;
use serde_json::json;

use crate::base::hash::sha256;
use crate::model::events::hook::HookRun;
use crate::model::events::hook_run::{FAILED_MAX, HookFailure};
use crate::model::record::Record;
use crate::store::error::{FoldError, StoreError};
use crate::store::index::ordered::{Batch, Index as _, MemoryIndex};
use crate::store::journal::chain::Head;
use crate::store::projection::fold::IndexFold;
use crate::store::projection::hooks::*;
use crate::store::read_model::model::ReadModel;
use crate::store::read_model::resources::EVENT_NUMBERS;
use crate::store::writer::core::Fold as _;

fn merchant() -> Key {
    "Merchant/acme".parse().unwrap()
}

/// An index with this many verified events.
fn with_events(count: u64) -> Arc<MemoryIndex> {
    let index = Arc::new(MemoryIndex::new());
    let mut batch = Batch::new();
    let ledger = EventLedger { verified: count, ..EventLedger::default() };
    let changes = &mut Changes::new(&*index, &mut batch);
    EVENT_LEDGERS.put(changes, &merchant(), &ledger).unwrap();
    EVENTS_TO_RUN.mark(changes, &merchant());
    index.apply(batch).unwrap();
    index
}

fn one(number: u64, script: Option<&str>) -> HookRunRecord {
    HookRunRecord {
        merchant: merchant(),
        event: format!("e{number}"),
        number,
        is_retry: false,
        script_identity: script.map(|script| ScriptIdentity {
            script: script.to_owned(),
            text: sha256(script.as_bytes()),
        }),
        former_script: None,
        runs: Vec::new(),
        failures: Vec::new(),
        depth: 0,
        at: DateTime::UNIX_EPOCH,
    }
}

fn take(index: &MemoryIndex, one: &HookRunRecord) -> Result<(), FoldError> {
    let mut batch = Batch::new();
    fold_run(&mut Changes::new(index, &mut batch), one)?;
    index.apply(batch).unwrap();
    Ok(())
}

fn pass(index: &MemoryIndex, to: u64) -> Result<(), FoldError> {
    let mut batch = Batch::new();
    advance(
        &mut Changes::new(index, &mut batch),
        &CursorAdvanced { merchant: merchant(), to, script: None, held_back: Vec::new() },
    )?;
    index.apply(batch).unwrap();
    Ok(())
}

#[test]
fn a_script_is_run_for_an_event_once_and_in_order_whatever_others_do() {
    let index = with_events(3);
    let facts = ReadModel::new(index.clone());
    take(&index, &one(1, Some("a"))).unwrap();
    take(&index, &one(3, Some("a"))).unwrap();
    take(&index, &one(1, Some("b"))).unwrap();
    for (number, script) in [(3, "a"), (2, "a"), (1, "b")] {
        let twice = take(&index, &one(number, Some(script))).unwrap_err();
        assert!(matches!(twice, FoldError::Law { law: 5, .. }), "{twice:?}");
    }
    let far: Vec<u64> =
        facts.hook_cursors(&merchant()).unwrap().iter().map(|(_, one)| one.to).collect();
    assert_eq!(far, [3, 1]);
    pass(&index, 1).unwrap();
    let left: Vec<String> =
        facts.hook_cursors(&merchant()).unwrap().into_iter().map(|(name, _)| name).collect();
    assert_eq!(left, ["a"], "who is not ahead has no entry");
    assert!(take(&index, &one(1, Some("new"))).is_err(), "where all have been nobody goes back");
    assert_eq!(facts.hooks_to_run().unwrap(), [merchant()]);
    pass(&index, 3).unwrap();
    assert_eq!(
        (facts.hooks_to_run().unwrap(), facts.hook_cursors(&merchant()).unwrap()),
        (vec![], vec![])
    );
}

#[test]
fn records_from_before_scripts_had_turns_of_their_own_are_read_and_counted() {
    let old = json!({"ran": {"merchant": "Merchant/default/acme", "event": "e1", "number": 1, "runs": [{
        "script": "a", "function": "on_event", "hash": sha256(b"x"), "wishes": [], "kept": [["count", 3]],
        "looks": [], "log": [], "operations": 4}],
        "failures": [{"script": "b", "function": "on_event", "message": "no", "tries": 1, "again": null}],
        "depth": 0, "at": "2026-11-30T12:00:00Z"}});
    let record: Record = serde_json::from_value(old).unwrap();
    let Record::HooksRun(old) = record else { panic!("{record:?}") };
    let index = with_events(2);
    take(&index, &old).unwrap();
    let facts = ReadModel::new(index.clone());
    assert_eq!(facts.event_ledger(&merchant()).unwrap().ran_to, 1);
    assert_eq!(facts.stored_value("a", "count").unwrap(), json!(3));
    assert_eq!(facts.first_failed(usize::MAX).unwrap().len(), 1);
    assert!(take(&index, &old).is_err());
}

#[test]
fn a_hook_that_ends_well_under_another_name_has_failed_no_more() {
    let index = with_events(1);
    let failed = HookFailure {
        script: "old".to_owned(),
        function: "on_event".to_owned(),
        message: "no".to_owned(),
        tries: 1,
        retry_at: None,
        text: None,
        log: Vec::new(),
    };
    take(&index, &HookRunRecord { failures: vec![failed], ..one(1, Some("old")) }).unwrap();
    let facts = ReadModel::new(index.clone());
    assert_eq!(facts.first_failed(usize::MAX).unwrap().len(), 1);
    let again =
        HookRunRecord { is_retry: true, former_script: Some("old".to_owned()), ..one(0, None) };
    take(&index, &HookRunRecord { event: "e1".to_owned(), ..again }).unwrap();
    assert_eq!(facts.first_failed(usize::MAX).unwrap(), []);
}

/// A run of the script `a` that failed for good.
fn failing(number: u64) -> HookRunRecord {
    let (script, function) = ("a".to_owned(), "on_event".to_owned());
    let failed = HookFailure {
        script,
        function,
        message: "no".to_owned(),
        tries: 5,
        retry_at: None,
        text: None,
        log: Vec::new(),
    };
    HookRunRecord { failures: vec![failed], ..one(number, Some("a")) }
}

/// K11: a stopped script keeps its place, and has nothing to run until it continues.
#[test]
fn k11_a_stopped_script_keeps_its_place_and_goes_on_when_fewer_of_its_runs_are_left() {
    let index = with_events(FAILED_MAX + 9);
    let facts = ReadModel::new(index.clone());
    let held = vec![ScriptIdentity { script: "a".to_owned(), text: sha256(b"a") }];
    let all = |to, held: &[ScriptIdentity]| {
        let passed =
            CursorAdvanced { merchant: merchant(), to, script: None, held_back: held.to_vec() };
        let mut batch = Batch::new();
        advance(&mut Changes::new(&*index, &mut batch), &passed).unwrap();
        index.apply(batch).unwrap();
    };
    for number in 1..FAILED_MAX {
        take(&index, &failing(number)).unwrap();
    }
    assert!(!facts.is_stopped(&merchant(), "a").unwrap());
    take(&index, &failing(FAILED_MAX)).unwrap();
    assert_eq!(facts.stopped_scripts(&merchant()).unwrap(), ["a"]);
    all(FAILED_MAX + 9, &held);
    let places = facts.hook_cursors(&merchant()).unwrap();
    assert_eq!((places.len(), places[0].1.to), (1, FAILED_MAX), "it is where it was");
    assert_eq!(facts.hooks_to_run().unwrap(), []);
    assert_eq!(facts.ran_by_all_scripts(&merchant()).unwrap(), FAILED_MAX, "its events are kept");
    let again = HookRunRecord { is_retry: true, script_identity: None, ..failing(7) };
    take(&index, &again).unwrap();
    assert_eq!(facts.hooks_to_run().unwrap(), [], "one that fails once more changes nothing");
    take(&index, &HookRunRecord { runs: vec![well("a")], failures: Vec::new(), ..again }).unwrap();
    assert_eq!(facts.hooks_to_run().unwrap(), [merchant()]);
    assert_eq!(facts.stopped_scripts(&merchant()).unwrap(), Vec::<String>::new());
}

/// K11: a person may let a stopped script continue while the record that keeps its place is
/// written.
#[test]
fn k11_a_script_that_goes_on_while_others_pass_it_loses_no_event() {
    let index = with_events(9);
    let facts = ReadModel::new(index.clone());
    let held = vec![ScriptIdentity { script: "a".to_owned(), text: sha256(b"a") }];
    let mut batch = Batch::new();
    advance(
        &mut Changes::new(&*index, &mut batch),
        &CursorAdvanced { merchant: merchant(), to: 9, script: None, held_back: held },
    )
    .unwrap();
    index.apply(batch).unwrap();
    let places = facts.hook_cursors(&merchant()).unwrap();
    assert_eq!((places.len(), places[0].1.to), (1, 0));
    assert_eq!(facts.hooks_to_run().unwrap(), [merchant()]);
}

fn well(script: &str) -> HookRun {
    HookRun {
        script: script.to_owned(),
        function: "on_event".to_owned(),
        hash: sha256(b"text"),
        requests: Vec::new(),
        kept: Vec::new(),
        added: Vec::new(),
        reads: Vec::new(),
        log: Vec::new(),
        operations: 1,
        sealed: None,
        answers: Vec::new(),
    }
}

/// A run of a script: every third fails, the others store a value.
fn ended(number: u64, script: &str) -> Record {
    let mut ran = one(number, Some(script));
    if number.is_multiple_of(3) {
        let (script, function) = (script.to_owned(), "on_event".to_owned());
        let message = "never".to_owned();
        ran.failures = vec![HookFailure {
            script,
            function,
            message,
            tries: 1,
            retry_at: None,
            text: None,
            log: Vec::new(),
        }];
        return Record::HooksRun(Box::new(ran));
    }
    let kept = vec![("last".to_owned(), json!(number))];
    ran.runs = vec![HookRun { kept, operations: number, ..well(script) }];
    Record::HooksRun(Box::new(ran))
}

fn folded(index: &Arc<MemoryIndex>, batch: &[(u64, Record)]) -> Result<(), StoreError> {
    IndexFold::new(index.clone()).apply(batch, Head::EMPTY)
}

#[test]
fn runs_that_are_counted_together_come_to_the_same_as_each_by_itself() {
    let turns = [("a", 1), ("a", 2), ("a", 3), ("b", 1), ("b", 2), ("a", 4), ("b", 4), ("b", 6)];
    let records = turns.map(|(script, number)| ended(number, script));
    let batch: Vec<(u64, Record)> = (1..).zip(records).collect();
    let (together, alone) = (with_events(6), with_events(6));
    folded(&together, &batch).unwrap();
    for one in batch.chunks(1) {
        folded(&alone, one).unwrap();
    }
    let digest = |index: &Arc<MemoryIndex>| ReadModel::new(index.clone()).digest().unwrap();
    assert_eq!(digest(&together), digest(&alone));
    let ledger = ReadModel::new(together.clone()).event_ledger(&merchant()).unwrap();
    assert_eq!((ledger.runs, ledger.failures, ledger.ran_to), (6, 2, 0));
    let again = [(9, ended(7, "a")), (10, ended(7, "a"))];
    let refused = folded(&together, &again).unwrap_err().to_string();
    assert!(refused.contains("a runs twice for event 7"), "{refused}");
    assert_eq!(digest(&together), digest(&alone), "nothing of it is taken in");
}

#[test]
fn events_are_found_by_their_numbers() {
    let index = with_events(0);
    let mut batch = Batch::new();
    let changes = &mut Changes::new(&*index, &mut batch);
    for number in [1, 2, 3, 4, 256] {
        EVENT_NUMBERS.put(changes, (&merchant(), number), &format!("e{number}")).unwrap();
    }
    index.apply(batch).unwrap();
    let facts = ReadModel::new(index);
    let found = |first, last| {
        let found = facts.events_numbered(&merchant(), (first, last)).unwrap();
        found.into_iter().map(|(number, id)| format!("{number} {id}")).collect::<Vec<_>>()
    };
    assert_eq!(found(2, 3), ["2 e2", "3 e3"]);
    assert_eq!(found(4, 4), ["4 e4"]);
    assert_eq!(found(5, 255), Vec::<String>::new());
}
