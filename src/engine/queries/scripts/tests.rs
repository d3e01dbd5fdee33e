use serde_json::json;

use super::*;
use crate::engine::tests::fixture::StateFixture;
use crate::engine::tests::records::{card, contact, failed_run, now, recurring_charge};
use crate::model::record::Record;

#[test]
fn a_filter_finds_what_has_all_its_fields_at_any_depth() {
    let seen = json!({"a": 1, "b": {"c": [1, 2], "d": null}, "e": "x"});
    for (filter, expected) in [
        (json!({}), true),
        (json!({"a": 1, "e": "x"}), true),
        (json!({"b": {"c": [1, 2]}}), true),
        (json!({"b": {"c": [1]}}), false),
        (json!({"a": "1"}), false),
        (json!({"b": {"d": null}}), true),
        (json!({"missing": null}), false),
    ] {
        assert_eq!(fits(&seen, &filter), expected, "{filter}");
    }
}

#[test]
fn a_script_finds_resources_of_a_kind_by_their_fields() {
    let documents = [card("card"), recurring_charge("a", "card"), contact("jane")];
    let fixture = StateFixture::with_documents(&documents.each_ref().map(String::as_str));
    let view = fixture.view();
    let names = |kind: &str, filter: Value| -> Vec<String> {
        let Value::Array(found) = view.script_find(kind, &filter) else { panic!("no list") };
        found.iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names("RecurringCharge", json!({"spec": {"method": "card"}})), ["a"]);
    assert_eq!(names("RecurringCharge", json!({"spec": {"method": "other"}})), [""; 0]);
    assert_eq!(names("Contact", json!({"ready": false})), ["jane"]);
    assert_eq!(names("Nothing", json!({})), [""; 0]);
}

#[test]
fn no_script_sees_a_secret_of_a_document() {
    let documents = [card("card")];
    let fixture = StateFixture::with_documents(&documents.each_ref().map(String::as_str));
    for name in ["SavedMethod/card", "Merchant/acme"] {
        let seen = fixture.view().script_resource(name).unwrap().to_string();
        assert!(!seen.contains("4242") && !seen.contains("CODE_ACME"), "{seen}");
        assert!(seen.contains("\"spec\""), "{seen}");
    }
}

#[test]
fn an_unknown_resource_is_null_for_a_script_and_a_malformed_name_an_error() {
    let fixture = StateFixture::with_documents(&[]);
    assert_eq!(fixture.view().script_resource("Contact/none"), Ok(Value::Null));
    assert!(fixture.view().script_resource("no name").unwrap_err().starts_with("no name: "));
}

#[test]
fn hooks_that_failed_for_good_are_listed_apart_from_those_that_run_again() {
    let mut fixture = StateFixture::with_documents(&[]);
    let retry_at = now() + chrono::TimeDelta::minutes(1);
    fixture.append(vec![failed_run(1, "a", None), failed_run(1, "b", Some(retry_at))]);
    let view = fixture.view().hooks_view().unwrap();
    let names = |runs: &[FailedRunView]| -> Vec<String> {
        runs.iter().map(|run| run.script.clone()).collect()
    };
    assert_eq!((names(&view.dead), names(&view.failed)), (vec!["a".into()], vec!["b".into()]));
    assert_eq!((view.totals.dead, view.totals.failed), (1, 1));
    assert_eq!(view.failed[0].again.as_deref(), Some("2029-12-01T10:01:00.000Z"));
}

#[test]
fn the_largest_holders_of_events_come_first_within_bounds_that_are_told() {
    let mut fixture = StateFixture::with_documents(&[]);
    let mut run = crate::engine::tests::records::hook_run(1, "a", Vec::new());
    run.runs[0].kept = vec![("count".to_owned(), json!(12))];
    fixture.record(Record::HooksRun(Box::new(run)));
    let quotas = fixture.view().quotas().unwrap();
    assert_eq!(quotas.kept, ScriptValuesSize::of("count", &json!(12)));
    assert!(
        quotas.kept.keys <= quotas.script_max.keys
            && quotas.script_max.keys <= quotas.kept_max.keys
    );
    assert_eq!(quotas.merchants.len(), 1);
}

#[test]
fn a_trial_reads_a_kept_value_and_an_unknown_event_as_null() {
    let mut fixture = StateFixture::with_documents(&[]);
    let mut run = crate::engine::tests::records::hook_run(1, "a", Vec::new());
    run.runs[0].kept = vec![("count".to_owned(), json!(12))];
    fixture.record(Record::HooksRun(Box::new(run)));
    let kept = |script: &str| {
        let query = TrialRunQuery::Kept { script: script.to_owned(), key: "count".to_owned() };
        fixture.view().trial_data(&query)
    };
    assert_eq!((kept("a"), kept("b")), (Ok(json!(12)), Ok(Value::Null)));
    let event = TrialRunQuery::Event("evt_none".to_owned());
    assert_eq!(fixture.view().trial_data(&event), Ok(Value::Null));
}

#[test]
fn every_action_that_was_not_done_has_a_remedy_and_mail_has_its_own() {
    for fate in [ActionOutcome::Refused, ActionOutcome::Invalid, ActionOutcome::Unknown] {
        assert_ne!(remedy(fate, "refund"), "nothing");
    }
    assert_ne!(remedy(ActionOutcome::Refused, NOTIFY), remedy(ActionOutcome::Refused, "refund"));
    assert_eq!(remedy(ActionOutcome::Done, "refund"), "nothing");
}
