use super::*;
use crate::scripting::tools::testcases::CaseState;

fn run(script: &str, actions: &[(&str, i64)], kept: &[(&str, i64)]) -> HookRun {
    let wish = |(name, amount): &(&str, i64)| ActionRequest {
        name: name.parse().unwrap(),
        verb: "refund".to_owned(),
        merchant: None,
        fields: json!({ "amount": amount }),
        at: None,
        at_most: None,
        content: None,
    };
    HookRun {
        script: script.to_owned(),
        function: "on_event".to_owned(),
        hash: sha256(b""),
        requests: actions.iter().map(wish).collect(),
        kept: kept.iter().map(|(key, value)| ((*key).to_owned(), json!(value))).collect(),
        added: Vec::new(),
        reads: Vec::new(),
        log: Vec::new(),
        operations: 1,
        sealed: None,
        answers: Vec::new(),
    }
}

fn names(wishes: &[ActionRequest]) -> Vec<&str> {
    wishes.iter().map(|wish| wish.name.as_str()).collect()
}

#[test]
fn actions_are_told_apart_by_name_and_a_script_that_is_renamed_changes_nothing() {
    let then = run("old", &[("a", 1), ("b", 2), ("c", 3)], &[]);
    assert!(
        RunDifferences::between(&[&then], &[&run("new", &[("c", 3), ("a", 1), ("b", 2)], &[])])
            .is_empty()
    );
    let now = run("old", &[("b", 3), ("c", 3), ("d", 4)], &[]);
    let found = RunDifferences::between(&[&then], &[&now]);
    assert_eq!((names(&found.added), names(&found.removed)), (vec!["d"], vec!["a"]));
    let (before, after) = found.changed.first().unwrap();
    assert_eq!(
        (before.fields["amount"].as_i64(), after.fields["amount"].as_i64()),
        (Some(2), Some(3))
    );
    assert_eq!(found.changed.len(), 1);
}

#[test]
fn what_is_kept_otherwise_is_told_for_each_script() {
    let then = run("a", &[], &[("count", 1), ("gone", 1)]);
    let now = run("a", &[], &[("count", 2), ("new", 1)]);
    let found = RunDifferences::between(&[&then], &[&now]).kept;
    let told: Vec<_> = found
        .iter()
        .map(|(_, key, one, other)| (key.as_str(), one.is_some(), other.is_some()))
        .collect();
    assert_eq!(told, [("count", true, true), ("gone", true, false), ("new", false, true)]);
}

#[test]
fn a_read_of_that_time_is_answered_as_then_and_any_other_by_the_present() {
    let look = |key: &str, answer: &Value| HookRead {
        what: "kv_get".to_owned(),
        arguments: json!([key]),
        answer: sha256(&canonical(answer)),
    };
    let present = CaseState {
        kv: [("a", 7), ("b", 8)].map(|(key, value)| (key.to_owned(), json!(value))).into(),
        ..CaseState::default()
    };
    let mut reads = RecordedReads::new(Arc::new(present));
    let looks = [look("a", &json!(1)), look("b", &json!(2)), look("none", &Value::Null)];
    reads.record("one", &looks, &[json!(1), json!("not what its digest says"), Value::Null]);
    assert_eq!(reads.kv("one", "a"), Ok(json!(1)));
    assert_eq!(reads.kv("one", "b"), Ok(json!(8)), "an answer that nothing proves is none");
    assert_eq!(reads.kv("one", "none"), Ok(Value::Null));
    assert_eq!(reads.kv("another", "a"), Ok(json!(7)), "what a script keeps is its own");
    assert_eq!(reads.counts(), (2, 2));
}
