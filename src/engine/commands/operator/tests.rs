#![expect(clippy::arithmetic_side_effects, reason = "an overflow fails the test")]
#![expect(clippy::wildcard_enum_match_arm, reason = "every other value fails the test")]

use chrono::TimeDelta;
use serde_json::json;

use crate::base::id::IntentId;
use crate::engine::protocol::diagnostics::StateReply;
use crate::engine::protocol::input::EngineCommand;
use crate::engine::protocol::query::Reply;
use crate::engine::tests::fixture::{StateFixture, append_in};
use crate::engine::tests::records::{
    CONTACT, annotated_document, contact, doubt, failed_run, hook_run, key, merchant, now,
    observation, open_intent, progress, restore_record, script_identity, suspension,
    suspension_record,
};
use crate::model::events::hook_run::HookRunRecord;
use crate::model::events::scripts::ScriptsLoaded;
use crate::model::intent::IntentProgress;
use crate::model::operator::{
    RemainingSuspension, RotationRecord, RotationRequest, RotationStep, SuspensionRequest,
    SuspensionResult, WebhookAddress,
};
use crate::model::record::Record;
use crate::model::state::lifecycle::ReleaseRequest;

fn suspend(name: &str) -> EngineCommand {
    let (key, reason) = (key(name), "audit".to_owned());
    EngineCommand::Suspend(
        SuspensionRequest::Suspend { key, reason, until: None },
        "ann".to_owned(),
    )
}

fn resume(name: &str) -> EngineCommand {
    EngineCommand::Suspend(SuspensionRequest::Resume { key: key(name) }, "ann".to_owned())
}

fn result_of(reply: Reply) -> SuspensionResult {
    let Reply::Suspension(result) = reply else { panic!("{reply:?}") };
    *result
}

#[test]
fn a_suspension_is_answered_with_exactly_what_is_recorded() {
    let fixture = StateFixture::with_documents(&[&contact("jane")]);
    let append = append_in(fixture.decide(suspend("Contact/jane")));
    let expected = suspension("Contact/jane", None);
    assert_eq!(append.records, [Record::Suspended(Box::new(expected.clone()))]);
    assert_eq!(result_of(append.answer), SuspensionResult::Suspended(expected));
}

#[test]
fn a_name_that_nothing_has_is_not_suspended_and_the_nearest_one_is_named() {
    let fixture = StateFixture::with_documents(&[&contact("jane")]);
    let result = result_of(fixture.answer_to(suspend("Contact/jnae")));
    let nearest = Some("Contact/jane".to_owned());
    assert_eq!(result, SuspensionResult::Unknown { key: key("Contact/jnae"), nearest });
}

#[test]
fn only_a_suspension_in_force_is_resumed() {
    let mut fixture = StateFixture::with_documents(&[&contact("jane")]);
    let none = SuspensionResult::NotSuspended { key: key("Contact/jane"), still: None };
    assert_eq!(result_of(fixture.answer_to(resume("Contact/jane"))), none, "never suspended");
    fixture.record(suspension_record("Contact/jane", Some("2029-12-01T11:00:00Z")));
    let append = append_in(fixture.decide(resume("Contact/jane")));
    assert!(matches!(&append.records[..], [Record::Resumed { .. }]));
    fixture.pass(TimeDelta::hours(1));
    assert_eq!(result_of(fixture.answer_to(resume("Contact/jane"))), none, "it is over");
}

#[test]
fn a_suspended_name_without_any_resource_can_be_resumed() {
    let mut fixture = StateFixture::with_documents(&[]);
    fixture.record(suspension_record("Contact/gone", None));
    let append = append_in(fixture.decide(resume("Contact/gone")));
    let still = None;
    assert_eq!(
        result_of(append.answer),
        SuspensionResult::Resumed { key: key("Contact/gone"), still }
    );
}

#[test]
fn resuming_names_what_still_suspends_the_document_before_the_merchant() {
    let by_document = annotated_document("Contact", "joe", "reckon.dev/suspend: \"true\"", CONTACT);
    let mut fixture = StateFixture::with_documents(&[&contact("jane"), &by_document]);
    for name in ["Merchant/acme", "Contact/jane", "Contact/joe"] {
        fixture.record(suspension_record(name, None));
    }
    let still = |name: &str| match result_of(append_in(fixture.decide(resume(name))).answer) {
        SuspensionResult::Resumed { still, .. } => still,
        other => panic!("{other:?}"),
    };
    assert_eq!(still("Contact/jane"), Some(RemainingSuspension::Merchant(merchant())));
    assert!(matches!(still("Contact/joe"), Some(RemainingSuspension::Document(file, _))
        if file == "specs/tree.yaml"));
    assert_eq!(still("Merchant/acme"), None, "a merchant does not suspend itself");
}

fn rotate(name: Option<&str>, step: RotationStep) -> EngineCommand {
    EngineCommand::Rotate(RotationRequest { merchant: name.map(key), step }, "ann".to_owned())
}

fn begin_record(addresses: Vec<WebhookAddress>) -> Record {
    let (step, actor, at) = (RotationStep::Begun, "ann".to_owned(), now());
    Record::Rotated(Box::new(RotationRecord { addresses, step, actor, at }))
}

fn addresses_in(fixture: &StateFixture, command: EngineCommand) -> Vec<WebhookAddress> {
    let append = append_in(fixture.decide(command));
    let Reply::Rotated(Ok(addresses)) = append.answer else { panic!("{:?}", append.answer) };
    let [Record::Rotated(rotated)] = &append.records[..] else { panic!("{:?}", append.records) };
    assert_eq!(rotated.addresses, addresses, "the answer names what is recorded");
    addresses
}

fn refusal_in(fixture: &StateFixture, command: EngineCommand) -> String {
    let Reply::Rotated(Err(why)) = fixture.answer_to(command) else { panic!("no refusal") };
    why
}

#[test]
fn a_rotation_concerns_the_named_merchant_or_every_address() {
    let fixture = StateFixture::with_documents(&[]);
    let own = WebhookAddress::Merchant(merchant());
    let named = addresses_in(&fixture, rotate(Some("Merchant/acme"), RotationStep::Begun));
    assert_eq!(named, std::slice::from_ref(&own));
    let all = addresses_in(&fixture, rotate(None, RotationStep::AtOnce));
    assert_eq!(all, [WebhookAddress::Partner, own]);
}

#[test]
fn a_rotation_of_an_unknown_merchant_names_the_nearest_one() {
    let fixture = StateFixture::with_documents(&[]);
    let why = refusal_in(&fixture, rotate(Some("Merchant/acne"), RotationStep::Begun));
    assert_eq!(why, "there is no merchant Merchant/acne; did you mean Merchant/acme?");
}

#[test]
fn a_rotation_in_progress_is_not_begun_again_and_only_it_is_finished() {
    let mut fixture = StateFixture::with_documents(&[]);
    let why = refusal_in(&fixture, rotate(None, RotationStep::Finished));
    assert_eq!(why, "no exchange is in progress");
    let own = WebhookAddress::Merchant(merchant());
    fixture.record(begin_record(vec![own.clone()]));
    let why = refusal_in(&fixture, rotate(None, RotationStep::Begun));
    let since = "the address of Merchant/acme since 2029-12-01T10:00:00.000Z";
    assert_eq!(why, format!("an exchange is already in progress: {since}"));
    assert_eq!(addresses_in(&fixture, rotate(None, RotationStep::Finished)), [own]);
    let at_once = addresses_in(&fixture, rotate(None, RotationStep::AtOnce));
    assert_eq!(at_once.len(), 2, "an address that outsiders know does not wait");
}

/// Returns a state with one failure for good and one that is retried, of the same event.
fn with_failures() -> StateFixture {
    let mut fixture = StateFixture::with_documents(&[]);
    let retry_at = now() + TimeDelta::minutes(1);
    fixture.append(vec![failed_run(1, "a", None), failed_run(1, "b", Some(retry_at))]);
    fixture
}

#[test]
fn acknowledging_counts_final_failures_and_leaves_retries() {
    let fixture = with_failures();
    let acknowledge = |event: &str| {
        let command = EngineCommand::Acknowledge(event.to_owned(), "ann".to_owned());
        let append = append_in(fixture.decide(command));
        (append.records.len(), append.answer)
    };
    assert_eq!(acknowledge("e1"), (1, Reply::Dismissed(1)));
    assert_eq!(acknowledge("e2"), (0, Reply::Dismissed(0)), "nothing is recorded for nothing");
}

#[test]
fn only_hooks_that_failed_for_good_are_replayed_with_one_record_a_merchant() {
    let mut fixture = with_failures();
    fixture.record(failed_run(1, "c", None));
    let replay = |event: &str| {
        let command = EngineCommand::Replay(event.to_owned(), "ann".to_owned());
        let append = append_in(fixture.decide(command));
        (append.records.len(), append.answer)
    };
    assert_eq!(replay("e1"), (1, Reply::Replayed(2)));
    assert_eq!(replay("e2"), (0, Reply::Replayed(0)));
}

#[test]
fn a_possible_orphan_is_dismissed_and_an_unknown_intent_records_nothing() {
    let mut fixture = StateFixture::with_documents(&[&contact("jane")]);
    let reason = "no lookup".to_owned();
    fixture.append(vec![
        open_intent(1, "Contact/jane", "contact.create"),
        doubt(1),
        progress(1, IntentProgress::GivenUp { reason }),
    ]);
    let dismiss = |id: u64| {
        let orphan = (IntentId::new(id), "checked".to_owned());
        let command = EngineCommand::AcknowledgeOrphan(orphan, "ann".to_owned());
        let append = append_in(fixture.decide(command));
        (append.records.len(), append.answer)
    };
    assert_eq!(dismiss(1), (1, Reply::OrphanSeen(Some(key("Contact/jane")))));
    assert_eq!(dismiss(2), (0, Reply::OrphanSeen(None)));
}

fn scripts(names: &[&str]) -> Record {
    let scripts = names.iter().map(|name| script_identity(name)).collect();
    Record::ScriptsLoaded(Box::new(ScriptsLoaded { scripts, begins: Vec::new(), at: now() }))
}

#[test]
fn an_absent_script_is_forgotten_with_its_values_and_one_in_use_is_not() {
    let mut fixture = StateFixture::with_documents(&[]);
    fixture.record(scripts(&["a"]));
    let mut run = hook_run(1, "a", Vec::new());
    run.runs[0].kept = vec![("count".to_owned(), json!(3)), ("name".to_owned(), json!("x"))];
    fixture.record(Record::HooksRun(Box::new(HookRunRecord { ..run })));
    let forget = || EngineCommand::ForgetScript("a".to_owned(), "ann".to_owned());
    assert_eq!(fixture.answer_to(forget()), Reply::ScriptForgotten(None), "it is in use");
    fixture.record(scripts(&[]));
    let append = append_in(fixture.decide(forget()));
    assert_eq!(append.answer, Reply::ScriptForgotten(Some(2)));
    assert!(matches!(&append.records[..], [Record::ScriptForgotten(_)]));
    let unknown = EngineCommand::ForgetScript("z".to_owned(), "ann".to_owned());
    assert_eq!(fixture.answer_to(unknown), Reply::ScriptForgotten(None));
}

#[test]
fn a_release_is_recorded_only_after_a_restore() {
    let mut fixture = StateFixture::with_documents(&[&contact("jane")]);
    fixture.record(observation("Contact/jane", "cont_1", json!({})));
    let release = || {
        let request = ReleaseRequest { keys: vec![key("Contact/jane")], done: false };
        EngineCommand::Release(request, "ann".to_owned())
    };
    let answer = fixture.answer_to(release());
    assert_eq!(answer, Reply::State(StateReply::Released(false)));
    fixture.record(restore_record(1));
    let append = append_in(fixture.decide(release()));
    assert_eq!(append.answer, Reply::State(StateReply::Released(true)));
    let [Record::Released(release)] = &append.records[..] else { panic!("no release") };
    assert_eq!((&release.keys[..], release.done), (&[key("Contact/jane")][..], false));
}
