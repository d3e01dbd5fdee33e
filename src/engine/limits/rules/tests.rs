#![expect(clippy::wildcard_enum_match_arm, reason = "every other value fails the test")]

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::TimeDelta;

use super::*;
use crate::base::hash::sha256;
use crate::base::money::{Currency, Money};
use crate::engine::tests::fixture::StateFixture;
use crate::engine::tests::records::{approval, key, merchant, now, spend};
use crate::model::effect::{Exposure, ExposureCounts};
use crate::model::record::Record;
use crate::policy::limits::{AmountLimit, CountLimit, LimitSet, Limits};
use crate::policy::permission::ApprovalRules;

fn amount(minor: i64) -> AmountLimit {
    let place: Arc<str> = Arc::from("reckon.yaml:4");
    let listed = BTreeMap::from([(Currency::USD, (minor, place.clone()))]);
    AmountLimit { name: Arc::from("policy.limits.some"), place, listed }
}

fn per_object(minor: i64) -> LimitSet {
    LimitSet { per_object: Some(amount(minor)), ..LimitSet::default() }
}

fn per_day(minor: i64) -> LimitSet {
    LimitSet { per_day: Some(amount(minor)), ..LimitSet::default() }
}

fn fixture(limits: Limits, approvals: ApprovalRules) -> StateFixture {
    StateFixture::with(|settings| {
        settings.policy = PolicyRules { limits, approvals, ..PolicyRules::default() }
    })
}

/// Returns a state with this limit for test money alone.
fn test_money(test: LimitSet) -> StateFixture {
    fixture(Limits { test, ..Limits::default() }, ApprovalRules::default())
}

fn judge(fixture: &StateFixture, wish: &SpendRequest) -> LimitDecision {
    let guard = &fixture.shared.guard;
    guard.judge(&guard.counting(), now(), wish, &|| sha256(b""), true).unwrap()
}

fn passes(fixture: &StateFixture, wish: &SpendRequest) -> bool {
    judge(fixture, wish) == LimitDecision::Within
}

fn pend(fixture: &StateFixture, id: u64, wish: SpendRequest) {
    fixture.shared.guard.counting().pending.insert(IntentId::new(id), wish);
}

fn over(fixture: &StateFixture, wish: &SpendRequest) -> LimitExceeded {
    match judge(fixture, wish) {
        LimitDecision::Over(over) => *over,
        other => panic!("{other:?}"),
    }
}

#[test]
fn without_limits_every_amount_passes() {
    let fixture = StateFixture::new();
    assert!(!fixture.shared.guard.is_limited());
    let wish = spend("Invoice/a", i64::MAX);
    assert_eq!(fixture.shared.guard.blocking_limit(&wish, &|| sha256(b"")), None);
}

#[test]
fn an_amount_passes_up_to_its_limit_and_a_block_names_the_limit_and_its_place() {
    let fixture = test_money(per_object(1000));
    assert!(passes(&fixture, &spend("Invoice/a", 1000)));
    let over = over(&fixture, &spend("Invoice/a", 1001));
    assert_eq!((over.limit.as_str(), over.place.as_str()), ("policy.limits.some", "reckon.yaml:4"));
    assert_eq!((over.allowed.as_str(), over.resulting.as_str()), ("10.00 USD", "10.01 USD"));
    assert_eq!(over.scope, LimitScope::Object);
}

#[test]
fn a_refund_counts_as_much_as_a_charge() {
    let fixture = test_money(per_object(1000));
    assert!(!passes(&fixture, &spend("Invoice/a", -1001)));
}

#[test]
fn a_currency_that_a_limit_does_not_list_may_not_move() {
    let fixture = test_money(per_object(1000));
    let mut wish = spend("Invoice/a", 1);
    wish.exposure.moves[0].amount = Money::new(1, "CAD".parse().unwrap());
    assert!(!passes(&fixture, &wish));
}

#[test]
fn live_and_test_money_are_counted_apart() {
    let fixture = test_money(per_day(1000));
    let live = |name, minor| SpendRequest { mode: Mode::Live, ..spend(name, minor) };
    assert!(passes(&fixture, &live("Invoice/a", 99_999)));
    pend(&fixture, 1, live("Invoice/b", 99_999));
    assert!(passes(&fixture, &spend("Invoice/a", 1000)));
    pend(&fixture, 2, spend("Invoice/c", 1));
    assert!(!passes(&fixture, &spend("Invoice/a", 1000)));
}

#[test]
fn a_merchant_s_own_limit_of_one_amount_replaces_the_general_one() {
    let merchants = BTreeMap::from([(merchant(), per_object(5000))]);
    let limits = Limits { test: per_object(1000), merchants, ..Limits::default() };
    let fixture = fixture(limits, ApprovalRules::default());
    assert!(passes(&fixture, &spend("Invoice/a", 3000)));
    let other = SpendRequest { merchant: key("Merchant/other"), ..spend("Invoice/a", 3000) };
    assert!(!passes(&fixture, &other));
}

#[test]
fn a_merchant_s_sum_counts_its_own_money_beside_the_general_sum() {
    let merchants = BTreeMap::from([(merchant(), per_day(1000))]);
    let limits = Limits { test: per_day(1500), merchants, ..Limits::default() };
    let fixture = fixture(limits, ApprovalRules::default());
    let other =
        |name, minor| SpendRequest { merchant: key("Merchant/other"), ..spend(name, minor) };
    pend(&fixture, 1, other("Invoice/b", 900));
    assert!(passes(&fixture, &spend("Invoice/a", 600)));
    assert!(!passes(&fixture, &spend("Invoice/a", 601)), "the general sum");
    fixture.shared.guard.counting().pending.clear();
    assert!(!passes(&fixture, &spend("Invoice/a", 1001)), "the merchant's own");
    assert!(passes(&fixture, &other("Invoice/a", 1001)), "it has no sum of its own");
}

#[test]
fn sums_beyond_the_largest_number_stay_over_the_limit() {
    let fixture = test_money(per_day(i64::MAX - 1));
    pend(&fixture, 1, spend("Invoice/b", i64::MAX));
    pend(&fixture, 2, spend("Invoice/c", i64::MAX));
    assert!(!passes(&fixture, &spend("Invoice/a", 1)));
}

#[test]
fn pending_money_counts_unless_it_was_approved() {
    let fixture = test_money(per_day(1000));
    let mut pending = spend("Invoice/b", 900);
    pend(&fixture, 1, pending.clone());
    assert!(!passes(&fixture, &spend("Invoice/a", 200)));
    pending.exposure.approvals = vec!["one".to_owned()];
    pend(&fixture, 1, pending);
    assert!(passes(&fixture, &spend("Invoice/a", 200)));
}

#[test]
fn an_effect_that_removes_nothing_passes_an_exhausted_limit_of_removals() {
    let name: Arc<str> = Arc::from("policy.limits.deletes_per_day");
    let limit = CountLimit { name, place: Arc::from("reckon.yaml:5"), maximum: 1 };
    let fixture = test_money(LimitSet { deletes_per_day: Some(limit), ..LimitSet::default() });
    let removal = |name: &str| {
        let counts = ExposureCounts { deletes: 1, emails: 0 };
        let exposure = Exposure { counts, ..Exposure::default() };
        SpendRequest { exposure, ..spend(name, 1) }
    };
    assert!(passes(&fixture, &removal("Contact/a")));
    pend(&fixture, 1, removal("Contact/b"));
    assert!(!passes(&fixture, &removal("Contact/a")));
    assert!(passes(&fixture, &spend("Invoice/a", 500)));
}

fn approve(fixture: &mut StateFixture, id: &str, actor: &str, wish: &SpendRequest) {
    let approved = approval(id, actor, vec![wish.clone()]);
    fixture.record(Record::PlanApproval(Box::new(approved)));
}

#[test]
fn an_approval_passes_what_it_names_and_nothing_more() {
    let mut fixture = test_money(per_object(1000));
    let wish = spend("Invoice/a", 3000);
    approve(&mut fixture, "one", "ann", &wish);
    assert_eq!(judge(&fixture, &wish), LimitDecision::Approved(vec!["one".to_owned()]));
    assert!(matches!(judge(&fixture, &spend("Invoice/a", 2999)), LimitDecision::Approved(_)));
    for other in [
        spend("Invoice/a", 3001),
        spend("Invoice/b", 3000),
        SpendRequest { generation: 1, ..wish.clone() },
        SpendRequest { merchant: key("Merchant/other"), ..wish.clone() },
    ] {
        assert!(matches!(judge(&fixture, &other), LimitDecision::Over(_)), "{other:?}");
    }
    let guard = &fixture.shared.guard;
    let document = guard.judge(&guard.counting(), now(), &wish, &|| sha256(b"other"), true);
    assert!(matches!(document.unwrap(), LimitDecision::Over(_)), "another payer or account");
}

#[test]
fn an_approval_ends_with_its_time() {
    let mut fixture = test_money(per_object(1000));
    let wish = spend("Invoice/a", 3000);
    approve(&mut fixture, "one", "ann", &wish);
    let guard = &fixture.shared.guard;
    let at = |days| {
        let later = now() + TimeDelta::days(days);
        guard.judge(&guard.counting(), later, &wish, &|| sha256(b""), true).unwrap()
    };
    assert!(matches!(at(6), LimitDecision::Approved(_)));
    assert!(matches!(at(7), LimitDecision::Over(_)));
}

#[test]
fn above_an_amount_as_many_different_people_approve_as_the_rules_say() {
    let above = BTreeMap::from([(Currency::USD, 2000)]);
    let approvals = ApprovalRules { above, approvers: 2, ..ApprovalRules::default() };
    let limits = Limits { test: per_object(1000), ..Limits::default() };
    let mut fixture = fixture(limits, approvals);
    let wish = spend("Invoice/a", 3000);
    assert_eq!(over(&fixture, &wish).approvers, 2);
    approve(&mut fixture, "one", "ann", &wish);
    approve(&mut fixture, "two", "ann", &wish);
    assert_eq!(over(&fixture, &wish).approved_by, ["ann"], "one person approves once");
    approve(&mut fixture, "three", "bob", &wish);
    let LimitDecision::Approved(ids) = judge(&fixture, &wish) else { panic!("not approved") };
    assert_eq!(ids.len(), 3);
    let small = spend("Invoice/b", 1500);
    assert_eq!(over(&fixture, &small).approvers, 1);
}

#[test]
fn a_limit_that_the_whole_plan_exceeds_stops_what_it_concerns_alone() {
    let fixture = test_money(per_day(1_000_000));
    let found = LimitExceeded {
        limit: "policy.limits.per_day".to_owned(),
        allowed: "1".to_owned(),
        resulting: "2".to_owned(),
        place: "reckon.yaml:4".to_owned(),
        scope: LimitScope::Plan,
        intended: PlannedAction::Blocked,
        approved_by: Vec::new(),
        approvers: 1,
    };
    fixture.shared.guard.counting().whole = vec![PlanLimitExceeded {
        mode: Mode::Test,
        merchant: Some(merchant()),
        about: LimitSubject::Money(Currency::USD),
        over: found,
    }];
    assert_eq!(over(&fixture, &spend("Invoice/a", 1)).scope, LimitScope::Plan);
    let mut cad = spend("Invoice/a", 1);
    cad.exposure.moves[0].amount = Money::new(0, "CAD".parse().unwrap());
    for other in [
        SpendRequest { mode: Mode::Live, ..spend("Invoice/a", 1) },
        SpendRequest { merchant: key("Merchant/other"), ..spend("Invoice/a", 1) },
        cad,
    ] {
        assert!(passes(&fixture, &other), "{other:?}");
    }
}

#[test]
fn a_run_is_one_state_of_the_files_on_one_utc_day() {
    let late: DateTime<Utc> = "2029-12-01T23:59:59Z".parse().unwrap();
    let run = SpendBudget::run("tree", now());
    assert_eq!(SpendBudget::run("tree", late), run);
    assert_ne!(SpendBudget::run("tree", late + TimeDelta::seconds(1)), run);
    assert_ne!(SpendBudget::run("other", now()), run);
}
