//! Rules for every kind, ahead of the kind's own.

use super::facts::*;
use super::*;
use crate::base::hash::Mark;
use crate::base::id::RemoteId;
use crate::model::state::observed::OnHold;
use crate::model::state::orphan::UnknownObject;

pub(super) fn held() -> OnHold {
    OnHold { intent: None, reason: "look".to_owned(), at: at(NOW) }
}

fn strays() -> Vec<UnknownObject> {
    let mark = Mark::parse("rkabcdefghijklmnopqrstuvwxya").unwrap();
    let (id, list) = (RemoteId::new("card_9").unwrap(), "cards".to_owned());
    vec![UnknownObject { id, mark, list, is_duplicate: false, collection: None }]
}

#[test]
fn what_has_no_document_has_a_step_as_long_as_anything_is_to_be_told_of_it() {
    let mut rig = Rig::applied(vec![acme(), contact("jane", "Jane")]);
    rig.remove(&["Contact/jane"]);
    let both = (true, Some(held()), strays());
    for (exists, held, strays, step) in [
        (false, None, Vec::new(), "none"),
        (true, None, Vec::new(), "Orphan Orphaned ready"),
        (false, Some(held()), Vec::new(), "Blocked Held"),
        (false, None, strays(), "Blocked UnknownMarks"),
        (both.0, both.1, both.2, "Blocked Held"),
    ] {
        rig.know("Contact/jane", |known| {
            (known.exists, known.on_hold, known.unknown_objects) = (exists, held, strays);
        });
        assert_eq!(rig.step("Contact/jane"), step);
    }
}

#[test]
fn the_steps_of_a_kind_are_found_whatever_their_names() {
    let names = ["0", "a", "z.9-z"].map(|name| contact(name, "Jane"));
    let rig = Rig::applied(names.into_iter().chain([acme()]).collect());
    let found = |kind: &str| -> Vec<String> {
        rig.planner.steps_of_kind(kind).map(|step| step.key.short()).collect()
    };
    assert_eq!(found("Contact"), ["Contact/0", "Contact/a", "Contact/z.9-z"]);
    assert_eq!(found("Merchant"), ["Merchant/acme"]);
    for unknown in ["Contac", "Contacts", "", "a/b"] {
        assert_eq!(found(unknown), Vec::<String>::new(), "{unknown}");
    }
}

#[test]
fn what_no_kind_knows_has_no_step() {
    let mut rig = Rig::applied(vec![acme()]);
    rig.know("Thing/it", |known| known.exists = true);
    assert_eq!(rig.step("Thing/it"), "none");
}

#[test]
fn while_something_is_under_way_nothing_newer_is_done() {
    let text = || "lost".to_owned();
    let doubt = IntentState::InDoubt { attempt: 1, reason: text() };
    let hold = IntentState::OnHold { attempt: 1, reason: text() };
    for (state, new, old) in [
        (IntentState::Open { attempt: 1 }, "Wait InFlight", "Wait InFlight ready"),
        (IntentState::Closed, "Wait InFlight", "Wait InFlight ready"),
        (doubt, "Wait InDoubt", "Wait InDoubt ready"),
        (hold, "Blocked Held", "Blocked Held"),
    ] {
        let mut rig = Rig::applied(vec![acme(), contact("jane", "Jane")]);
        rig.known.open.insert(key("Contact/jane"), intent("Contact/jane", state));
        rig.touch(&["Contact/jane"]);
        assert_eq!(rig.step("Contact/jane"), old);
        rig.unmade("Contact/jane");
        assert_eq!(rig.step("Contact/jane"), new);
        assert!(rig.whole("Contact/jane").work.is_none());
    }
}

#[test]
fn a_doubt_and_a_hold_tell_what_happened() {
    let mut rig = Rig::applied(vec![acme(), contact("jane", "Jane")]);
    let state = IntentState::InDoubt { attempt: 1, reason: "lost".to_owned() };
    rig.known.open.insert(key("Contact/jane"), intent("Contact/jane", state));
    rig.touch(&["Contact/jane"]);
    assert_eq!(rig.reason("Contact/jane"), Reason::InDoubt("lost".to_owned()));
    rig.known.open.clear();
    rig.know("Contact/jane", |known| known.on_hold = Some(held()));
    assert_eq!(rig.reason("Contact/jane"), Reason::OnHold("look".to_owned()));
    rig.know("Contact/jane", |known| (known.on_hold, known.unknown_objects) = (None, strays()));
    assert_eq!(rig.reason("Contact/jane"), Reason::UnknownObjects(strays().into_boxed_slice()));
}

/// Goes from the kind's own draft to the most urgent obstacle, one after the other.
#[test]
fn of_several_reasons_the_most_urgent_one_is_told() {
    let mut rig = Rig::applied(vec![acme()]);
    let jane = contact("jane", "Jane");
    rig.write(vec![jane.clone()]);
    assert_eq!(rig.step("Contact/jane"), "Create NotCreated");
    rig.write(vec![moved(jane.clone(), "Contact/joe")]);
    assert_eq!(rig.step("Contact/jane"), "Blocked CannotMove");
    rig.write(vec![saying(moved(jane, "Contact/joe"), |said| said.suspend = true)]);
    assert_eq!(rig.reason("Contact/jane"), Reason::Suspended);
    assert_eq!(rig.step("Contact/jane"), "Wait Suspended");
    let suspension = Arc::new(suspension("Contact/jane", None));
    rig.known.suspensions.insert(key("Contact/jane"), suspension);
    rig.touch(&["Contact/jane"]);
    assert!(matches!(rig.reason("Contact/jane"), Reason::SuspendedBy(_)));
    rig.know("Contact/jane", |known| known.unknown_objects = strays());
    assert_eq!(rig.step("Contact/jane"), "Blocked UnknownMarks");
    rig.know("Contact/jane", |known| known.on_hold = Some(held()));
    assert_eq!(rig.step("Contact/jane"), "Blocked Held");
    rig.known.desired.broken.insert(key("Contact/jane"));
    rig.touch(&["Contact/jane"]);
    assert_eq!(rig.step("Contact/jane"), "Blocked BrokenDocument");
    let open = intent("Contact/jane", IntentState::Open { attempt: 1 });
    rig.known.open.insert(key("Contact/jane"), open);
    rig.touch(&["Contact/jane"]);
    assert_eq!(rig.step("Contact/jane"), "Wait InFlight");
}

#[test]
fn absence_is_not_believed_while_some_document_cannot_be_read() {
    for document in [card("card"), deleted(card("card"))] {
        let mut rig = Rig::applied(vec![acme(), document]);
        rig.known.desired.tree_state = TreeState::Incomplete;
        rig.remove(&["SavedMethod/card"]);
        assert_eq!(rig.step("SavedMethod/card"), "Wait AbsenceNotBelieved ready");
        assert!(rig.whole("SavedMethod/card").work.is_none());
        assert_eq!(rig.step("Merchant/acme"), "Settled InSync ready");
    }
}

#[test]
fn a_step_names_the_object_and_the_place_of_its_document() {
    let mut rig = Rig::applied(vec![acme(), card("card")]);
    rig.know("SavedMethod/card", |known| known.remote_id = RemoteId::new("card_1").ok());
    let told = |rig: &Rig| {
        let step = rig.whole("SavedMethod/card");
        (step.remote_id, step.place.map(|(file, line)| format!("{file}:{line}")))
    };
    let id = Some("card_1".to_owned());
    assert_eq!(told(&rig), (id.clone(), Some("it.yaml:1".to_owned())));
    rig.remove(&["SavedMethod/card"]);
    assert_eq!(told(&rig), (id, None));
}

#[test]
fn what_is_needed_besides_is_waited_for_by_what_would_change_something() {
    let joe = || needing(contact("joe", "Joe"), "Contact/jane");
    let mut rig = Rig::applied(vec![acme(), contact("jane", "Jane"), joe()]);
    let known = rig.known.observed[&key("Contact/jane")].clone();
    rig.unmade("Contact/jane");
    assert_eq!(rig.step("Contact/joe"), "Settled InSync ready", "it is there already");
    rig.unmade("Contact/joe");
    assert_eq!(rig.step("Contact/joe"), "Create WaitsFor");
    assert_eq!(rig.reason("Contact/joe"), Reason::WaitsFor(vec![key("Contact/jane")]));
    let whole = rig.whole("Contact/joe");
    assert!(whole.work.is_none() && !whole.changes.is_empty());
    rig.know("Contact/jane", |jane| *jane = Observed::clone(&known));
    assert_eq!(rig.step("Contact/joe"), "Create NotCreated");
    assert!(rig.whole("Contact/joe").work.is_some());
}

#[test]
fn what_a_person_is_offered_waits_for_what_is_needed_too() {
    let mut rig = Rig::applied(vec![acme()]);
    rig.write(vec![contact("jane", "Jane"), application()]);
    let name = "MerchantApplication/jo";
    assert_eq!(rig.step(name), "Wait AwaitsApplicant");
    assert!(rig.whole(name).on_demand.is_some());
    rig.write(vec![needing(application(), "Contact/jane")]);
    assert_eq!(rig.step(name), "Wait WaitsFor");
    assert!(rig.whole(name).on_demand.is_none());
}
