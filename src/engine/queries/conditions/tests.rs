use super::*;
use crate::engine::tests::fixture::StateFixture;
use crate::engine::tests::records::{contact, doubt, key, merchant, now, open_intent, suspension};
use crate::model::change::PlannedAction;

fn settled_step() -> Step {
    let step = Step::idle(key("Contact/jane"), PlannedAction::Settled, Reason::Settled);
    Step { ready: true, ..step }
}

fn waiting_step() -> Step {
    Step::idle(key("Contact/jane"), PlannedAction::Create, Reason::NotCreated)
}

fn inputs(step: &Step) -> ConditionInputs<'_> {
    ConditionInputs {
        step,
        observed: None,
        open: None,
        suspension: None,
        suspended: false,
        unable: None,
        hold: None,
        confidence: None,
    }
}

fn one(known: &ConditionInputs<'_>, kind: ConditionType) -> Condition {
    conditions(known).into_iter().find(|one| one.kind == kind).unwrap()
}

#[test]
fn every_resource_has_all_four_conditions_in_one_order() {
    for step in [settled_step(), waiting_step()] {
        let kinds: Vec<ConditionType> =
            conditions(&inputs(&step)).iter().map(|one| one.kind).collect();
        assert_eq!(
            kinds,
            [
                ConditionType::Synced,
                ConditionType::Healthy,
                ConditionType::Suspended,
                ConditionType::NeedsAttention
            ]
        );
    }
}

#[test]
fn a_state_that_was_not_read_again_is_not_said_to_be_verified() {
    let step = settled_step();
    let observed = Observed::unknown(merchant(), now());
    for (confidence, reason) in [
        (Some(Confidence::Verified), "InSync"),
        (Some(Confidence::LastKnown), "NotVerified"),
        (Some(Confidence::CannotBeVerified), "NotVerified"),
        (None, "InSync"),
    ] {
        let known = ConditionInputs { confidence, observed: Some(&observed), ..inputs(&step) };
        let synced = one(&known, ConditionType::Synced);
        assert_eq!(synced.reason, reason, "{confidence:?}");
        assert_eq!(synced.message.contains("2029-12-01T10:00:00.000Z"), reason == "NotVerified");
    }
}

#[test]
fn a_state_of_an_unknown_time_says_so() {
    let step = settled_step();
    let known = ConditionInputs { confidence: Some(Confidence::LastKnown), ..inputs(&step) };
    assert!(in_sync(&known).1.contains("an unknown time"));
}

#[test]
fn the_failure_of_the_last_try_is_the_reason_why_a_resource_differs() {
    let step = waiting_step();
    for (failure, reason, attention) in [
        (TaskFailure::Secret("s".to_owned()), "SecretMissing", true),
        (TaskFailure::Unreachable("s".to_owned()), "Unreachable", false),
        (TaskFailure::Blocked("s".to_owned()), "NotPossible", true),
        (TaskFailure::Mismatch("s".to_owned()), "Mismatch", true),
        (TaskFailure::Denied("s".to_owned()), "PartnerRefused", true),
        (TaskFailure::Waiting("s".to_owned()), "Processing", false),
    ] {
        let known = ConditionInputs { unable: Some(&failure), ..inputs(&step) };
        assert_eq!(one(&known, ConditionType::Synced).reason, reason);
        let needs = one(&known, ConditionType::NeedsAttention);
        assert_eq!(needs.status, ConditionStatus::from(attention), "{failure:?}");
        let expected = if attention { reason } else { "NothingToDo" };
        assert_eq!(needs.reason, expected);
    }
}

#[test]
fn a_suspension_is_told_with_its_person_and_one_by_the_document_without() {
    let (step, by) = (waiting_step(), suspension("Contact/jane", None));
    let person = ConditionInputs { suspension: Some(&by), suspended: true, ..inputs(&step) };
    let told = one(&person, ConditionType::Suspended);
    assert!(told.message.contains("by ann"), "{}", told.message);
    assert_eq!(told.since.as_deref(), Some("2029-12-01T10:00:00.000Z"));
    let document = ConditionInputs { suspended: true, ..inputs(&step) };
    let told = one(&document, ConditionType::Suspended);
    assert_eq!((told.status, told.since), (ConditionStatus::True, None));
    let none = one(&inputs(&step), ConditionType::Suspended);
    assert_eq!((none.status, none.reason.as_str()), (ConditionStatus::False, "NotSuspended"));
}

#[test]
fn an_effect_in_doubt_dates_its_condition_from_the_doubt() {
    let mut fixture = StateFixture::with_documents(&[&contact("jane")]);
    fixture.append(vec![open_intent(1, "Contact/jane", "contact.create"), doubt(1)]);
    let Some(view) = fixture.view().resource(&key("Contact/jane")) else { panic!("unknown") };
    let synced = view.conditions.iter().find(|one| one.kind == ConditionType::Synced).unwrap();
    assert_eq!((synced.status, synced.reason.as_str()), (ConditionStatus::Unknown, "InDoubt"));
    assert_eq!(synced.since.as_deref(), Some("2029-12-01T10:00:00.000Z"));
    assert!(!view.ready);
}

#[test]
fn a_change_of_the_files_alone_has_no_time() {
    let step = waiting_step();
    let observed = Observed { changed: Some(now()), ..Observed::unknown(merchant(), now()) };
    let known = ConditionInputs { observed: Some(&observed), ..inputs(&step) };
    assert_eq!(one(&known, ConditionType::Synced).since, None);
    let step = settled_step();
    let known = ConditionInputs { observed: Some(&observed), ..inputs(&step) };
    assert!(one(&known, ConditionType::Synced).since.is_some());
}
