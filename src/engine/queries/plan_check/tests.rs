use std::sync::Arc;

use serde_json::json;

use super::*;
use crate::base::money::Currency;
use crate::engine::tests::fixture::StateFixture;
use crate::engine::tests::records::{approval, card, key, merchant, recurring_charge};
use crate::model::record::Record;
use crate::policy::PolicyRules;
use crate::policy::limit_check::LimitSubject;
use crate::policy::limits::{AmountLimit, LimitSet, Limits};

fn amount(minor: i64) -> AmountLimit {
    let place: Arc<str> = Arc::from("reckon.yaml:4");
    let listed = BTreeMap::from([(Currency::USD, (minor, place.clone()))]);
    AmountLimit { name: Arc::from("policy.limits.per_run"), place, listed }
}

/// Returns a state whose plan creates two charges of 20.00 USD each.
fn two_charges(limits: Limits) -> StateFixture {
    let mut fixture = StateFixture::with(|settings| {
        settings.policy = PolicyRules { limits, ..PolicyRules::default() };
    });
    fixture.connect(&[
        &card("card"),
        &recurring_charge("a", "card"),
        &recurring_charge("b", "card"),
    ]);
    fixture.apply("SavedMethod/card", "card_1", json!({}));
    fixture
}

fn per_run(minor: i64) -> Limits {
    let test = LimitSet { per_run: Some(amount(minor)), ..LimitSet::default() };
    Limits { test, ..Limits::default() }
}

fn exceeded_limits(fixture: &StateFixture) -> Vec<PlanLimitExceeded> {
    let view = fixture.view();
    view.find_exceeded(&fixture.shared.guard, &view.tree_name()).unwrap()
}

#[test]
fn steps_that_pass_one_by_one_and_not_together_exceed_the_limit_of_the_plan() {
    assert_eq!(exceeded_limits(&two_charges(per_run(4000))), []);
    let found = exceeded_limits(&two_charges(per_run(3999)));
    let [one] = &found[..] else { panic!("{found:?}") };
    assert_eq!((one.mode, &one.merchant), (Mode::Test, &None));
    assert_eq!(one.about, LimitSubject::Money(Currency::USD));
    assert_eq!(one.over.scope, LimitScope::Plan);
}

#[test]
fn a_merchant_s_own_sum_is_checked_beside_the_general_one() {
    let own = LimitSet { per_run: Some(amount(3000)), ..LimitSet::default() };
    let merchants = BTreeMap::from([(merchant(), own)]);
    let found = exceeded_limits(&two_charges(Limits { merchants, ..per_run(1_000_000) }));
    let merchants: Vec<Option<Key>> = found.into_iter().map(|one| one.merchant).collect();
    assert_eq!(merchants, [Some(merchant())]);
}

#[test]
fn only_selected_steps_add_to_the_plan() {
    let mut fixture = two_charges(per_run(3000));
    fixture.scheduler.select_targets([key("RecurringCharge/a")].into());
    assert_eq!(exceeded_limits(&fixture), []);
}

#[test]
fn an_approved_step_adds_to_no_sum() {
    let mut fixture = two_charges(per_run(3000));
    let view = fixture.view();
    let mut steps: Vec<SpendRequest> = view.spend_requests().take(1).collect();
    for step in &mut steps {
        step.amountless_digest = Some(view.digest_without_amounts(&step.key));
    }
    fixture.record(Record::PlanApproval(Box::new(approval("one", "ann", steps))));
    assert_eq!(exceeded_limits(&fixture), []);
}

#[test]
fn a_step_that_its_own_limit_blocks_adds_to_no_sum() {
    let test = LimitSet {
        per_object: Some(amount(1000)),
        per_run: Some(amount(1)),
        ..LimitSet::default()
    };
    assert_eq!(exceeded_limits(&two_charges(Limits { test, ..Limits::default() })), []);
}

#[test]
fn the_name_of_a_tree_follows_its_documents() {
    let fixture = two_charges(per_run(1));
    let same = two_charges(per_run(2));
    assert_eq!(fixture.view().tree_name(), same.view().tree_name());
    let mut other = two_charges(per_run(1));
    other.connect(&[&card("card"), &recurring_charge("a", "card")]);
    assert_ne!(fixture.view().tree_name(), other.view().tree_name());
}

#[test]
fn another_amount_leaves_the_digest_of_a_document_and_another_payer_does_not() {
    let documents = [card("card"), card("other")];
    let digest = |charge: &str| {
        let fixture = StateFixture::with_documents(&[&documents[0], &documents[1], charge]);
        fixture.view().digest_without_amounts(&key("RecurringCharge/a"))
    };
    let charge = recurring_charge("a", "card");
    assert_eq!(digest(&charge), digest(&charge.replace("20.00", "30.00")));
    assert_ne!(digest(&charge), digest(&recurring_charge("a", "other")));
}
