#![expect(clippy::wildcard_enum_match_arm, reason = "every other value fails the test")]

use super::*;
use crate::base::id::Key;
use crate::engine::hooks::context::Unwritten;
use crate::engine::tests::fixture::StateFixture;
use crate::engine::tests::records::{merchant, now, script_identity};
use crate::model::events::event::{VerifiedEvent, Via};
use crate::model::events::hook_run::{FailedHook, HookFailure, HookRunRecord, TRIES_MAX};
use crate::model::remote_object::Freshness;
use crate::scripting::hooks::Hooks;
use crate::scripting::language::limits::on_stack;
use crate::scripting::language::names::ConfiguredNames;
use crate::scripting::language::source::ScriptSource;

/// Returns a state with two verified events of the merchant, the second one without hooks.
fn with_events() -> StateFixture {
    let mut fixture = StateFixture::with_documents(&[]);
    for (id, quiet) in [("e1", false), ("e2", true)] {
        let body = fixture.seal(&merchant().to_string(), r#"{"data": {"id": "tx_1"}}"#);
        fixture.record(Record::EventVerified(Box::new(VerifiedEvent {
            merchant: merchant(),
            event: id.to_owned(),
            kind: "transaction.failed".to_owned(),
            created: now(),
            via: Via::Poll,
            body,
            object: None,
            freshness: Freshness::Newer,
            previous: None,
            resources: Vec::<Key>::new(),
            quiet,
            at: now(),
        })));
    }
    fixture
}

fn context(fixture: &StateFixture, body: &str) -> Arc<BatchContext> {
    let source = ScriptSource {
        path: "a.rhai".to_owned(),
        display_path: "scripts/a.rhai".to_owned(),
        text: format!("fn on_event(event) {{\n{body}\n}}\n").into(),
    };
    Arc::new(BatchContext {
        shared: fixture.shared.clone(),
        hooks: Hooks::load(&[source], &ConfiguredNames::default()).unwrap(),
        merchant: merchant(),
        script: "a".to_owned(),
        lane: Some(script_identity("a")),
        mode: json!("test"),
        unwritten: Unwritten::default(),
    })
}

/// Runs a batch of one item to its end; returns its records and the last event's number.
fn run(fixture: &StateFixture, body: &str, item: WorkItem) -> (Vec<HookRunRecord>, u64) {
    let mut batch = HookBatch::new(context(fixture, body), [item]);
    let pace = StretchLimits { now: Some(now()), left: None };
    let needed = on_stack(|| batch.run_stretch(pace)).unwrap().unwrap();
    assert_eq!(needed, None);
    let records = std::mem::take(&mut batch.records).into_iter().map(|record| match record {
        Record::HooksRun(run) => *run,
        other => panic!("{other:?}"),
    });
    (records.collect(), batch.at)
}

fn event(number: u64, id: Option<&str>) -> WorkItem {
    WorkItem::Event(number, id.map(str::to_owned))
}

fn retry(script: &str, tries: u32) -> WorkItem {
    let failed = HookFailure {
        script: script.to_owned(),
        function: "on_event".to_owned(),
        message: "no".to_owned(),
        tries,
        retry_at: None,
        text: None,
        log: Vec::new(),
    };
    let (merchant, event) = (merchant(), "e1".to_owned());
    WorkItem::Retry(Box::new(FailedHook {
        merchant,
        event,
        failed,
        maybe_ran: false,
        requester: None,
    }))
}

#[test]
fn a_run_is_recorded_for_its_event_and_its_number() {
    let (records, at) = run(&with_events(), "let x = 1;", event(1, Some("e1")));
    let [record] = &records[..] else { panic!("{records:?}") };
    assert_eq!((record.event.as_str(), record.number, record.is_retry, at), ("e1", 1, false, 1));
    assert_eq!((record.runs.len(), record.failures.len()), (1, 0));
    assert_eq!(record.script_identity, Some(script_identity("a")));
}

#[test]
fn a_number_without_an_event_and_a_quiet_event_are_passed_over() {
    let fixture = with_events();
    for (number, id) in [(1, None), (1, Some("e9")), (2, Some("e2"))] {
        let (records, at) = run(&fixture, "let x = 1;", event(number, id));
        assert_eq!((records.len(), at), (0, number), "{id:?}");
    }
}

#[test]
fn a_failed_run_requests_nothing_and_is_tried_again_in_half_a_minute() {
    let (records, _) = run(&with_events(), "throw \"no such payer\";", event(1, Some("e1")));
    assert!(records[0].runs.is_empty());
    let [failure] = &records[0].failures[..] else { panic!("{records:?}") };
    assert!(failure.message.contains("no such payer"), "{}", failure.message);
    assert_eq!(
        (failure.tries, failure.retry_at),
        (1, Some(now() + chrono::TimeDelta::seconds(30)))
    );
}

#[test]
fn the_last_failed_try_leaves_a_hook_to_a_person() {
    let (records, _) = run(&with_events(), "throw \"no\";", retry("a", TRIES_MAX - 1));
    let failure = &records[0].failures[0];
    assert_eq!((failure.tries, failure.retry_at), (TRIES_MAX, None));
    assert!(records[0].is_retry && records[0].script_identity.is_none());
}

#[test]
fn a_retry_runs_under_the_present_name_of_its_script_and_names_the_former_one() {
    let (records, _) = run(&with_events(), "let x = 1;", retry("before", 1));
    assert_eq!(records[0].former_script.as_deref(), Some("before"));
    assert_eq!(records[0].runs[0].script, "a");
}

#[test]
fn a_hook_of_an_event_whose_data_was_erased_is_not_run() {
    let fixture = with_events();
    fixture.shared.erase(&merchant().to_string()).unwrap();
    let (records, _) = run(&fixture, "let x = 1;", event(1, Some("e1")));
    assert!(records.is_empty());
    let (records, _) = run(&fixture, "let x = 1;", retry("a", 1));
    assert!(records[0].failures[0].message.contains("was erased with its merchant"));
}
