use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::TimeDelta;
use serde_json::json;

use super::*;
use crate::base::money::Currency;
use crate::engine::tests::fixture::StateFixture;
use crate::engine::tests::records::{CONTACT, card, contact, document, recurring_charge};
use crate::policy::PolicyRules;
use crate::policy::limits::{AmountLimit, LimitSet, Limits};

fn checksum(fixture: &StateFixture) -> String {
    fixture.view().plan_view().checksum
}

#[test]
fn a_plan_keeps_its_checksum_while_it_does_the_same() {
    let mut fixture = StateFixture::with_documents(&[&contact("jane"), &contact("joe")]);
    let before = checksum(&fixture);
    fixture.pass(TimeDelta::days(2));
    assert_eq!(checksum(&fixture), before, "the time of day is no part of it");
    fixture.connect(&[&contact("joe"), &contact("jane")]);
    assert_eq!(checksum(&fixture), before, "nor is the order of documents");
}

#[test]
fn a_changed_a_new_and_a_done_step_change_the_checksum() {
    let mut fixture = StateFixture::with_documents(&[&contact("jane"), &contact("joe")]);
    let mut seen = vec![checksum(&fixture)];
    let changed = document("Contact", "jane", &CONTACT.replace("Doe", "Roe"));
    fixture.connect(&[&changed, &contact("joe")]);
    seen.push(checksum(&fixture));
    fixture.connect(&[&changed, &contact("joe"), &contact("new")]);
    seen.push(checksum(&fixture));
    fixture.apply("Contact/joe", "cont_1", json!({}));
    seen.push(checksum(&fixture));
    let distinct: std::collections::BTreeSet<&String> = seen.iter().collect();
    assert_eq!(distinct.len(), seen.len());
}

/// Returns a state whose plan creates a charge of 20.00 USD under a limit of this amount.
fn charge_under(limit: Option<i64>) -> StateFixture {
    let mut fixture = StateFixture::with(|settings| {
        let per_object = limit.map(|minor| {
            let place: Arc<str> = Arc::from("reckon.yaml:4");
            let listed = BTreeMap::from([(Currency::USD, (minor, place.clone()))]);
            AmountLimit { name: Arc::from("policy.limits.per_object"), place, listed }
        });
        let test = LimitSet { per_object, ..LimitSet::default() };
        let limits = Limits { test, ..Limits::default() };
        settings.policy = PolicyRules { limits, ..PolicyRules::default() };
    });
    fixture.connect(&[&card("card"), &recurring_charge("club", "card")]);
    fixture.apply("SavedMethod/card", "card_1", json!({}));
    fixture
}

#[test]
fn a_plan_has_one_checksum_before_and_after_a_limit_stops_it() {
    let (free, stopped) = (charge_under(None), charge_under(Some(1000)));
    assert_eq!(stopped.reason("RecurringCharge/club"), "OverLimit");
    assert_eq!(checksum(&free), checksum(&stopped));
}

#[test]
fn a_step_over_a_limit_names_the_plan_to_approve() {
    let fixture = charge_under(Some(1000));
    let plan = fixture.view().plan_view();
    let step = plan.steps.iter().find(|step| step.limit.is_some()).unwrap();
    let short = &plan.checksum[..CHECKSUM_SHORT];
    assert!(step.message.contains(&format!("`reckon approve {short}`")), "{}", step.message);
    assert!(step.stuck);
}

#[test]
fn a_settled_step_is_counted_and_not_listed() {
    let mut fixture = StateFixture::with_documents(&[&contact("jane"), &contact("joe")]);
    fixture.apply("Contact/jane", "cont_1", json!({}));
    let plan = fixture.view().plan_view();
    let names: Vec<&str> = plan.steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!((plan.resources, names), (3, vec!["joe"]));
}

#[test]
fn a_plan_lists_what_a_step_needs_before_it() {
    let fixture = StateFixture::with_documents(&[&recurring_charge("a", "z"), &card("z")]);
    let plan = fixture.view().plan_view();
    let names: Vec<&str> = plan.steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(names, ["z", "a"]);
}
