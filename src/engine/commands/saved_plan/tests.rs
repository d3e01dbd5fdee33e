use serde_json::{Value, json};

use crate::base::hash::Digest;
use crate::engine::commands::saved_plan::SAVED_PLAN;
use crate::engine::protocol::approvals::{PlanUnfit, SavePlan, SavedPlan};
use crate::engine::protocol::query::{EngineQuery, Reply};
use crate::engine::protocol::unknown_names::UnknownName;
use crate::engine::tests::fixture::{DIGEST_KEY, StateFixture};
use crate::engine::tests::records::{
    CONTACT, contact, document, key, now, open_intent, restore_record,
};
use crate::model::operator::{PlanUse, StepSelection};
use crate::model::record::{Record, StateOwner};

fn save(fixture: &StateFixture, target: &[&str]) -> Reply {
    let target = target.iter().map(|name| key(name)).collect();
    let scope = StepSelection { target, ..StepSelection::default() };
    fixture.ask(EngineQuery::Save(Box::new(SavePlan { scope, dirty: None })))
}

/// Returns a state whose plan creates two contacts, and that plan as it is saved.
fn with_plan() -> (StateFixture, SavedPlan) {
    let fixture = StateFixture::with_documents(&[&contact("jane"), &contact("joe")]);
    let Reply::Saved(saved) = save(&fixture, &[]) else { panic!("no plan") };
    (fixture, *saved)
}

fn check(fixture: &StateFixture, saved: &SavedPlan) -> Result<(), PlanUnfit> {
    let file = serde_json::to_value(saved).unwrap();
    fixture.view().check_saved_plan(saved, file).unwrap()
}

/// Seals a changed plan as the state itself would.
fn seal_again(mut saved: SavedPlan, change: impl FnOnce(&mut SavedPlan)) -> SavedPlan {
    change(&mut saved);
    saved.seal = saved.seal_digest(&DIGEST_KEY);
    saved
}

/// Returns what made a plan stale, each with its resource.
fn stale(fixture: &StateFixture, saved: &SavedPlan) -> Vec<String> {
    let Err(PlanUnfit::Stale(changes)) = check(fixture, saved) else { panic!("not stale") };
    changes.iter().map(|change| format!("{}: {}", change.key.short(), change.what)).collect()
}

#[test]
fn a_saved_plan_fits_the_state_that_made_it_and_reads_back_unchanged() {
    let (fixture, saved) = with_plan();
    let text = serde_json::to_string(&saved).unwrap();
    let (read, file) = SavedPlan::read(&text).unwrap();
    assert_eq!(read, saved);
    assert_eq!(fixture.view().check_saved_plan(&read, file).unwrap(), Ok(()));
    let steps: Vec<String> = saved.steps.iter().map(|step| step.key.short()).collect();
    assert_eq!(steps, ["Contact/jane", "Contact/joe"]);
}

#[test]
fn two_plans_of_one_state_have_tokens_and_names_of_their_own() {
    let (fixture, first) = with_plan();
    let Reply::Saved(second) = save(&fixture, &[]) else { panic!("no plan") };
    assert_ne!((&first.token, &first.id), (&second.token, &second.id));
    assert_eq!(first.plan.checksum, second.plan.checksum, "they do the same");
}

#[test]
fn an_edited_plan_is_refused_whatever_was_edited() {
    let (fixture, saved) = with_plan();
    for (place, value) in [
        ("/plan/resources", json!(99)),
        ("/steps/0/verdict", json!("delete")),
        ("/token", json!("another")),
        ("/plan/steps/0/message", json!("harmless")),
    ] {
        let mut file = serde_json::to_value(&saved).unwrap();
        *file.pointer_mut(place).unwrap() = value;
        let read: SavedPlan = serde_json::from_value(file.clone()).unwrap();
        let fit = fixture.view().check_saved_plan(&read, file).unwrap();
        assert_eq!(fit, Err(PlanUnfit::Edited), "{place}");
    }
    let mut file = serde_json::to_value(&saved).unwrap();
    file["unknown_field"] = Value::Bool(true);
    let fit = fixture.view().check_saved_plan(&saved, file).unwrap();
    assert_eq!(fit, Err(PlanUnfit::Edited), "no part of the file escapes the check");
}

#[test]
fn a_plan_of_another_form_partner_or_state_is_refused_by_that_name() {
    let (fixture, saved) = with_plan();
    let form = seal_again(saved.clone(), |plan| plan.saved_plan = SAVED_PLAN + 1);
    assert_eq!(check(&fixture, &form), Err(PlanUnfit::Form(SAVED_PLAN + 1)));
    let partner = seal_again(saved.clone(), |plan| plan.partner = "other".to_owned());
    assert_eq!(check(&fixture, &partner), Err(PlanUnfit::Partner("other".to_owned())));
    let state = seal_again(saved, |plan| plan.state = Digest::ZERO);
    assert_eq!(check(&fixture, &state), Err(PlanUnfit::State));
}

#[test]
fn a_plan_ahead_of_the_journal_or_beside_it_shows_an_older_copy_of_the_state() {
    let (fixture, saved) = with_plan();
    let state = fixture.length();
    let ahead = seal_again(saved.clone(), |plan| plan.plan.position += 5);
    assert_eq!(check(&fixture, &ahead), Err(PlanUnfit::Ahead { plan: state + 5, state }));
    let beside = seal_again(saved, |plan| plan.plan.head = "00".repeat(32));
    assert_eq!(check(&fixture, &beside), Err(PlanUnfit::State));
}

#[test]
fn a_plan_from_before_a_restore_is_refused() {
    let mut fixture = StateFixture::new();
    fixture.record(Record::StateOwner(StateOwner {
        partner: "acme".to_owned(),
        client: "client".to_owned(),
        key: "key".to_owned(),
        epoch: 0,
        began: Some(now()),
    }));
    fixture.connect(&[&contact("jane")]);
    let Reply::Saved(saved) = save(&fixture, &[]) else { panic!("no plan") };
    fixture.record(restore_record(1));
    assert_eq!(check(&fixture, &saved), Err(PlanUnfit::Epoch { plan: 0, state: 1 }));
}

#[test]
fn a_used_plan_is_refused_with_what_is_done_under_way_and_left() {
    let (mut fixture, saved) = with_plan();
    fixture.record(Record::PlanUsed(Box::new(PlanUse {
        plan: saved.id.clone(),
        token: saved.token.clone(),
        checksum: saved.plan.checksum.clone(),
        actor: "ann".to_owned(),
        at: now(),
    })));
    let used = |fixture: &StateFixture| match check(fixture, &saved) {
        Err(PlanUnfit::Used(used)) => [used.done, used.open, used.left].map(|keys| keys.len()),
        other => panic!("{other:?}"),
    };
    assert_eq!(used(&fixture), [0, 0, 2]);
    fixture.apply("Contact/jane", "cont_1", json!({}));
    fixture.record(open_intent(1, "Contact/joe", "contact.create"));
    assert_eq!(used(&fixture), [1, 1, 0]);
}

#[test]
fn a_changed_document_makes_a_plan_stale_and_a_missing_one_too() {
    let (mut fixture, saved) = with_plan();
    let changed = document("Contact", "jane", &CONTACT.replace("Doe", "Roe"));
    fixture.connect(&[&changed]);
    assert_eq!(
        stale(&fixture, &saved),
        ["Contact/jane: its document changed", "Contact/joe: its document is missing or invalid"]
    );
}

#[test]
fn a_changed_fact_makes_a_plan_stale_and_is_named() {
    let (mut fixture, saved) = with_plan();
    fixture.apply("Contact/jane", "cont_1", json!({}));
    let changes = stale(&fixture, &saved);
    assert_eq!(changes.len(), 1);
    assert!(
        changes[0].starts_with("Contact/jane: its known state changed: its id, "),
        "{changes:?}"
    );
}

#[test]
fn a_new_step_makes_a_plan_stale_only_within_its_scope() {
    let (mut fixture, whole) = with_plan();
    let Reply::Saved(scoped) = save(&fixture, &["Contact/jane"]) else { panic!("no plan") };
    fixture.write(&[
        crate::engine::tests::records::MERCHANT,
        &contact("jane"),
        &contact("joe"),
        &contact("new"),
    ]);
    let changes = stale(&fixture, &whole);
    assert_eq!(changes.len(), 1);
    assert!(changes[0].starts_with("Contact/new: new step: create"), "{changes:?}");
    assert_eq!(check(&fixture, &scoped), Ok(()));
}

#[test]
fn a_name_that_no_resource_has_is_not_saved() {
    let (fixture, _) = with_plan();
    let Reply::Unknown(names) = save(&fixture, &["Contact/jnae"]) else { panic!("it was saved") };
    let nearest = Some("Contact/jane".to_owned());
    assert_eq!(names, [UnknownName { key: key("Contact/jnae"), nearest }]);
}
