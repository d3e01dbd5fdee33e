//! Laws of approvals, over pairs of plans.

use proptest::prelude::*;
use serde_json::json;

use crate::base::id::{IntentId, Key, Mode};
use crate::model::effect::{ExposureCounts, MoneyMove};
use crate::policy::permission::*;

fn wish(name: usize, minor: i64) -> SpendRequest {
    let amount = Money::new(minor, Currency::USD);
    let money = MoneyMove { amount, mode: Mode::Live, meaning: "invoiced" };
    SpendRequest {
        key: format!("Invoice/i{name}").parse().unwrap(),
        merchant: "Merchant/acme".parse().unwrap(),
        mode: Mode::Live,
        generation: 0,
        amountless_digest: Some(amountless_digest(Some(&json!({"contact": "jane"})), &[1; 32])),
        exposure: Exposure::new(&[money], ExposureCounts { deletes: 0, emails: 1 }),
    }
}

const START: &str = "2026-11-21T12:00:00Z";

fn at(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

fn kept(actor: &str, steps: &[SpendRequest]) -> StoredApproval {
    let approval = PlanApproval {
        id: format!("{actor}-{}", steps.len()),
        checksum: "c".to_owned(),
        ceilings: Vec::new(),
        steps: steps.to_vec(),
        actor: actor.to_owned(),
        at: at(START),
        signed: None,
    };
    StoredApproval { approval, used: Vec::new() }
}

fn passes(rules: &ApprovalRules, kept: &[StoredApproval], wish: &SpendRequest) -> bool {
    approval_status(rules, kept, wish, at(START)).is_enough()
}

#[test]
fn another_key_merchant_mode_generation_or_document_is_not_what_was_approved() {
    let approved = wish(1, 100);
    assert!(covers(&approved, &approved));
    let others = [
        wish(2, 100),
        wish(1, 101),
        SpendRequest { merchant: "Merchant/other".parse().unwrap(), ..approved.clone() },
        SpendRequest { mode: Mode::Test, ..approved.clone() },
        SpendRequest { generation: 1, ..approved.clone() },
        SpendRequest {
            amountless_digest: Some(amountless_digest(Some(&json!({"contact": "joe"})), &[1; 32])),
            ..approved.clone()
        },
        SpendRequest { amountless_digest: None, ..approved.clone() },
    ];
    for other in &others {
        assert!(!covers(&approved, other), "{other:?}");
    }
    let counted = |deletes, emails| {
        let stake =
            Exposure { counts: ExposureCounts { deletes, emails }, ..approved.exposure.clone() };
        SpendRequest { exposure: stake, ..approved.clone() }
    };
    assert!(!covers(&approved, &counted(1, 1)) && !covers(&approved, &counted(0, 2)));
    assert!(covers(&approved, &counted(0, 0)));
    let mut renamed = approved.clone();
    renamed.exposure.moves[0].meaning = "charged".to_owned();
    assert!(!covers(&approved, &renamed), "another meaning");
    let mut more = approved.clone();
    more.exposure.moves.push(more.exposure.moves[0].clone());
    assert!(!covers(&approved, &more), "twice the amount in two parts");
}

#[test]
fn a_document_is_the_same_but_for_its_amounts() {
    let digest = |spec: Value| amountless_digest(Some(&spec), &[1; 32]);
    let spec = |amount: &str, account: &str| {
        json!({"amount": amount, "account": account, "max_amount": "9 USD",
            "line_items": [{"description": "A", "rate_per_quantity": amount}]})
    };
    assert_eq!(digest(spec("1 USD", "a")), digest(spec("2 USD", "a")));
    assert_ne!(digest(spec("1 USD", "a")), digest(spec("1 USD", "b")));
    assert_ne!(digest(json!({"max_amount": 1})), digest(json!({"max_amount": 2})));
    assert_ne!(amountless_digest(None, &[1; 32]), amountless_digest(None, &[2; 32]), "keyed");
}

#[test]
fn two_people_are_two_people_and_an_approval_is_used_once() {
    let rules = ApprovalRules {
        above: BTreeMap::from([(Currency::USD, 1000)]),
        approvers: 2,
        ..ApprovalRules::default()
    };
    let small = [wish(1, 1000)];
    let large = [wish(1, 900), wish(2, 900)];
    assert_eq!((rules.approvers_needed(&small), rules.approvers_needed(&large)), (1, 2));
    assert!(passes(&rules, &[kept("ann", &small)], &small[0]));
    let twice = [kept("ann", &large), kept("ann", &large)];
    assert!(!passes(&rules, &twice, &large[0]), "one person twice is one person");
    let mut both = [kept("ann", &large), kept("bob", &large)];
    assert!(passes(&rules, &both, &large[0]));
    both[0].used.push((large[0].key.clone(), IntentId::new(1)));
    assert!(!passes(&rules, &both, &large[0]), "it was used for this step");
    assert!(passes(&rules, &both, &large[1]));
    assert_eq!(
        ApprovalRules::default().approvers_needed(&large),
        1,
        "without an amount one is enough"
    );
    let mut euro = wish(1, 1);
    euro.exposure.moves[0].amount = Money::new(1, "EUR".parse().unwrap());
    assert_eq!(rules.approvers_needed(&[euro]), 2, "a currency that is not listed");
}

#[test]
fn an_approval_expires() {
    let (rules, kept) = (ApprovalRules::default(), [kept("ann", &[wish(1, 5)])]);
    let passes = |now: &str| approval_status(&rules, &kept, &wish(1, 5), at(now)).is_enough();
    assert!(passes("2026-11-28T11:59:59Z"));
    assert!(!passes("2026-11-28T12:00:00Z"));
}

#[test]
fn what_the_approver_said_is_compared_currency_by_currency() {
    let euro: Currency = "EUR".parse().unwrap();
    let sums = BTreeMap::from([(Currency::USD, 500), (euro, 1)]);
    let usd = Money::new(500, Currency::USD);
    assert_eq!(first_excess(&[], &sums), None, "nothing was said");
    assert_eq!(first_excess(&[usd], &sums), Some((Money::new(1, euro), None)));
    let less = Money::new(499, Currency::USD);
    assert_eq!(first_excess(&[less, Money::new(9, euro)], &sums), Some((usd, Some(&less))));
    assert_eq!(first_excess(&[usd, Money::new(1, euro)], &sums), None);
}

fn plan() -> impl Strategy<Value = BTreeMap<usize, i64>> {
    prop::collection::btree_map(0_usize..6, 1_i64..50, 0..6)
}

fn steps(plan: &BTreeMap<usize, i64>) -> Vec<SpendRequest> {
    plan.iter().map(|(name, minor)| wish(*name, *minor)).collect()
}

proptest! {
    /// A newer plan is approved exactly if each of its steps was in the approved one with no lower
    /// amount.
    #[test]
    fn a_newer_plan_that_only_lowers_stays_approved_and_no_other(old in plan(), new in plan()) {
        let rules = ApprovalRules::default();
        let kept = [kept("ann", &steps(&old))];
        let approved = steps(&new).iter().all(|wish| passes(&rules, &kept, wish));
        let only_lowers = new.iter().all(|(name, minor)| old.get(name).is_some_and(|old| minor <= old));
        prop_assert_eq!(approved, only_lowers);
    }

    /// No sequence of requests moves more under an approval than it names.
    #[test]
    fn no_more_moves_than_was_approved(
        old in plan(),
        wanted in prop::collection::vec((0_usize..6, 1_i64..50), 0..30),
    ) {
        let rules = ApprovalRules::default();
        let mut kept = [kept("ann", &steps(&old))];
        let mut moved: BTreeMap<Key, i64> = BTreeMap::new();
        for (number, (name, minor)) in (1_u64..).zip(wanted) {
            let wish = wish(name, minor);
            if passes(&rules, &kept, &wish) {
                kept[0].used.push((wish.key.clone(), IntentId::new(number)));
                let sum = moved.entry(wish.key).or_default();
                *sum = sum.saturating_add(minor);
            }
        }
        for (name, minor) in &old {
            let key: Key = format!("Invoice/i{name}").parse().unwrap();
            prop_assert!(moved.remove(&key).unwrap_or_default() <= *minor);
        }
        prop_assert!(moved.is_empty());
    }
}
