use chrono::TimeDelta;
use serde_json::json;

use super::*;
use crate::engine::handles::task_result::TaskFailure;
use crate::engine::protocol::resources::ResourceList;
use crate::engine::tests::fixture::StateFixture;
use crate::engine::tests::records::{
    card, contact, document, doubt, key, observation, open_intent, suspension_record,
};
use crate::model::events::hook_run::HookRunRecord;
use crate::model::record::Record;

/// Returns a state with one resource of each sort.
fn varied_state() -> StateFixture {
    let mut fixture =
        StateFixture::with_documents(&[&contact("jane"), &contact("joe"), &card("card")]);
    fixture.apply("Contact/jane", "cont_1", json!({}));
    fixture.record(observation("Contact/orphan", "cont_2", json!({})));
    fixture.record(suspension_record("Contact/joe", Some("2029-12-01T11:00:00Z")));
    fixture.append(vec![open_intent(1, "SavedMethod/card", "card.save"), doubt(1)]);
    fixture
}

#[test]
fn the_parts_of_the_overview_agree_with_the_list_of_resources() {
    let fixture = varied_state();
    let list = fixture.ask(EngineQuery::Resources(Box::default()));
    let Reply::Resources(ResourceList { items, .. }) = list else { panic!("no list") };
    let view = fixture.view().overview();
    assert_eq!(view.resources, items.len());
    assert_eq!(view.ready, items.iter().filter(|item| item.ready).count());
    assert_eq!((view.open_intents, view.suspended, view.orphaned), (1, 1, 1));
    assert_eq!(view.position, fixture.length());
    assert_eq!(view.under_way, 0);
}

#[test]
fn a_suspension_counts_only_while_it_is_in_force() {
    let mut fixture = varied_state();
    fixture.pass(TimeDelta::hours(1));
    assert_eq!(fixture.view().overview().suspended, 0);
}

#[test]
fn what_is_queued_and_what_runs_is_under_way() {
    let mut fixture = varied_state();
    fixture.scheduler.queue.insert(key("Contact/joe"));
    fixture.scheduler.busy.insert(key("Contact/jane"));
    let view = fixture.view().overview();
    assert_eq!((view.under_way, view.is_at_rest()), (2, false));
}

#[test]
fn a_failed_try_needs_attention_only_if_a_person_alone_can_change_its_cause() {
    let mut fixture = varied_state();
    let before = fixture.view().overview().stuck;
    let why = || "why".to_owned();
    let mut stuck = |failure: TaskFailure| {
        fixture.scheduler.failures.insert(&key("Contact/joe"), failure);
        fixture.view().overview().stuck - before
    };
    assert_eq!(stuck(TaskFailure::Unreachable(why())), 0);
    assert_eq!(stuck(TaskFailure::Secret(why())), 1);
}

#[test]
fn an_unusable_document_is_counted_and_makes_the_tree_incomplete() {
    let mut fixture = varied_state();
    fixture.connect(&[&document("Contact", "bad", "no_such_field: 1")]);
    let view = fixture.view().overview();
    assert_eq!(view.broken, 1);
    assert_ne!(view.coverage, crate::model::manifest::TreeState::Complete);
}

#[test]
fn each_condition_counts_every_resource_once() {
    let fixture = varied_state();
    let metrics = fixture.view().metrics().unwrap();
    let resources = u64::try_from(metrics.overview.resources).unwrap();
    assert_eq!(metrics.conditions.len(), 4);
    for (kind, statuses) in &metrics.conditions {
        assert_eq!(statuses.values().sum::<u64>(), resources, "{kind}");
    }
}

#[test]
fn the_counts_of_a_monitor_are_those_of_the_list() {
    let mut fixture = varied_state();
    let why = || "why".to_owned();
    fixture.scheduler.failures.insert(&key("Contact/joe"), TaskFailure::Secret(why()));
    fixture.scheduler.failures.insert(&key("SavedMethod/card"), TaskFailure::Secret(why()));
    for hours in [0, 1] {
        fixture.pass(TimeDelta::hours(hours));
        let (mut conditions, mut reasons) = (BTreeMap::new(), BTreeMap::new());
        let view = fixture.view();
        for step in view.planner.steps() {
            for shown in view.resource_view(step).conditions {
                let of_kind: &mut BTreeMap<String, u64> =
                    conditions.entry(shown.kind.word().to_owned()).or_default();
                *of_kind.entry(shown.status.word().to_owned()).or_default() += 1;
            }
            if !step.is_ready() || step.action.is_change() {
                *reasons.entry(step.headline().0.to_owned()).or_default() += 1;
            }
        }
        let metrics = view.metrics().unwrap();
        assert_eq!((metrics.conditions, metrics.reasons), (conditions, reasons), "{hours}");
    }
}

#[test]
fn open_intents_are_counted_by_state_with_the_age_of_the_oldest() {
    let mut fixture = varied_state();
    fixture.record(open_intent(2, "Contact/joe", "contact.create"));
    fixture.pass(TimeDelta::seconds(90));
    let metrics = fixture.view().metrics().unwrap();
    let expected = [("held", (0, 0)), ("in_doubt", (1, 90)), ("open", (1, 90))];
    let expected = expected.map(|(state, counts)| (state.to_owned(), counts));
    assert_eq!(metrics.intents, expected.into());
}

#[test]
fn an_age_that_nothing_has_is_unknown_and_not_zero() {
    let totals = varied_state().view().metrics().unwrap().events;
    assert_eq!(
        (totals.age_seconds, totals.lag_seconds, totals.horizon_age_seconds),
        (None, None, None)
    );
}

#[test]
fn the_totals_of_hooks_are_those_of_their_ledgers() {
    let mut fixture = varied_state();
    let run = crate::engine::tests::records::failed_run(1, "a", None);
    let Record::HooksRun(run) = run else { panic!("no run") };
    fixture.record(Record::HooksRun(Box::new(HookRunRecord { ..*run })));
    let metrics = fixture.view().metrics().unwrap();
    let hooks = fixture.view().hooks_view().unwrap();
    assert_eq!((metrics.events.hooks_dead, hooks.totals.dead), (1, 1));
    assert_eq!((hooks.dead.len(), hooks.failed.len()), (1, 0));
}
