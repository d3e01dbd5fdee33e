//! Planned steps of a recurring charge: from documents and known facts to a verdict, its money and
//! its request.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use crate::base::hash::SourceId;
use crate::base::id::{Key, RemoteId};
use crate::kinds::planning::step::{PlanningView, StepCx, StepDecision};
use crate::kinds::recurring_charge::step::step;
use crate::kinds::saved_method::SavedMethodKind;
use crate::kinds::schema::kind::SpecSchema;
use crate::kinds::secrets::redact;
use crate::kinds::testing::manifest;
use crate::model::change::PlannedAction;
use crate::model::effect::{Effect, MoneyMove, StepWork};
use crate::model::manifest::{Deletion, Manifest, OnDoubt};
use crate::model::plan::Reason;
use crate::model::state::observed::{AppliedSpec, Observed};

/// 21 November in Chicago, 22 November in UTC.
const NOW: &str = "2026-11-22T03:00:00Z";
pub(super) const HEAD: &str = "merchant: acme\nmethod: card\namount: 50.00 USD\n";
pub(super) const LATER: &str =
    "schedule: {start: 2026-12-01, interval_unit: MONTH, interval_delay: 1}";
pub(super) const AT_ONCE: &str =
    "first_charge: now\nschedule: {interval_unit: MONTH, interval_delay: 1}";

/// A merchant, a saved card, and their known state.
pub(super) struct Known {
    pub(super) manifests: BTreeMap<Key, Arc<Manifest>>,
    pub(super) observed: BTreeMap<Key, Arc<Observed>>,
    pub(super) ready: BTreeSet<Key>,
}

impl PlanningView for Known {
    fn manifest(&self, key: &Key) -> Option<Arc<Manifest>> {
        self.manifests.get(key).cloned()
    }

    fn observed_state(&self, key: &Key) -> Option<Arc<Observed>> {
        self.observed.get(key).cloned()
    }

    fn is_ready(&self, key: &Key) -> bool {
        self.ready.contains(key)
    }

    fn users(&self, _: &Key) -> Vec<Key> {
        Vec::new()
    }
}

fn now() -> DateTime<Utc> {
    NOW.parse().unwrap()
}

pub(super) fn observed(id: Option<&str>, applied: Option<Value>, facts: Value) -> Observed {
    let applied = applied.map(|spec| AppliedSpec {
        digest: crate::base::hash::sha256(spec.to_string().as_bytes()),
        spec,
        generation: 0,
        deletion: Deletion::Orphan,
    });
    Observed {
        remote_id: id.map(|id| RemoteId::new(id).unwrap()),
        exists: applied.is_some(),
        applied,
        facts,
        ..Observed::unknown("Merchant/default/acme".parse().unwrap(), now())
    }
}

impl Known {
    pub(super) fn new(facts: &Value) -> Self {
        let mut all = json!({
            "timezone": "America/Chicago",
            "accounts": [
                {"id": "card1", "name": "Card", "type": "MerchantAccount", "currency": "USD",
                    "recurring_charges_enabled": true, "trust_account": "false"},
                {"id": "ach1", "name": "eCheck", "type": "AchAccount", "currency": "USD",
                    "recurring_charges_enabled": true, "trust_account": "false"},
            ],
            "bank_accounts": [
                {"id": "bank_o", "name": "Operating", "trust": false, "processing_accounts": ["card1"]},
                {"id": "bank_t", "name": "Trust", "trust": true, "processing_accounts": ["card1"]},
            ],
        });
        for (name, value) in facts.as_object().unwrap() {
            all[name] = value.clone();
        }
        let merchant =
            manifest("Merchant", "acme", "mode: test\ncredentials: {authorization_code: {env: C}}");
        let card = manifest(
            "SavedMethod",
            "card",
            "merchant: acme\ntype: card\nsource: {card: {number: {env: C}, exp_month: 1, exp_year: 31}}",
        );
        let saved = redact(SavedMethodKind::FIELDS, &card.spec, &[7; 32]);
        let ready = BTreeSet::from([merchant.key.clone(), card.key.clone()]);
        let observed = BTreeMap::from([
            (merchant.key.clone(), Arc::new(observed(None, Some(json!({})), all))),
            (card.key.clone(), Arc::new(observed(Some("c1"), Some(saved), json!({})))),
        ]);
        let manifests = [merchant, card].map(|one| (one.key.clone(), one)).into();
        Self { manifests, observed, ready }
    }

    pub(super) fn step(&self, spec: &str, have: Option<&Observed>) -> StepDecision {
        let manifest = manifest("RecurringCharge", "it", spec);
        let cx = StepCx {
            partner: "acme",
            digest_key: &[7; 32],
            view: self,
            on_doubt: OnDoubt::Recreate,
            live_refused: None,
            now: now(),
        };
        step(&cx, &manifest, have)
    }
}

pub(super) fn effect(draft: &StepDecision) -> &Effect {
    match &draft.work {
        Some(StepWork::Effect(effect)) => effect,
        other => panic!("no effect: {other:?} {}", draft.reason),
    }
}

pub(super) fn money(draft: &StepDecision) -> Vec<String> {
    let one = |money: &MoneyMove| format!("{} {}", money.amount, money.meaning);
    draft.money.iter().map(one).collect()
}

/// Returns verdict, word and sentence of a step that does nothing.
pub(super) fn idle(draft: &StepDecision) -> String {
    assert!(draft.work.is_none() && draft.money.is_empty(), "nothing blocked moves money");
    format!("{:?} {}: {}", draft.verdict, draft.reason.word(), draft.reason)
}

fn mark() -> String {
    let key: Key = "RecurringCharge/default/it".parse().unwrap();
    SourceId::new("acme", &key, 0).mark().to_string()
}

#[test]
fn a_charge_now_names_what_recurs_only_where_it_differs() {
    let known = Known::new(&json!({}));
    let draft =
        known.step(&format!("{HEAD}description: Rent\nmax_occurrences: 3\n{AT_ONCE}"), None);
    let request = &effect(&draft).request;
    assert_eq!((draft.verdict, request.path.as_str()), (PlannedAction::Create, "/v1/charges"));
    assert_eq!(
        request.body,
        json!({"method": "c1", "amount": 5000, "currency": "USD", "account_id": "card1",
            "auto_capture": true, "reference": mark(), "recur": {"description": format!("Rent [{}]", mark()),
            "interval_unit": "MONTH", "interval_delay": 1, "max_occurrences": 3}})
    );
    assert_eq!(money(&draft), ["50.00 USD charged_now", "50.00 USD collected_per_occurrence"]);
    let draft =
        known.step(&format!("{HEAD}account: Card\nfirst_amount: 65.00 USD\n{AT_ONCE}"), None);
    let body = &effect(&draft).request.body;
    assert_eq!((&body["amount"], &body["recur"]["amount"]), (&json!(6500), &json!(5000)));
    assert_eq!(body["account_id"], "card1");
    assert_eq!(money(&draft), ["65.00 USD charged_now", "50.00 USD collected_per_occurrence"]);
    let expect = &effect(&draft).expect;
    for (path, value) in
        [("amount", json!(6500)), ("currency", json!("USD")), ("account_id", json!("card1"))]
    {
        assert_eq!(expect.get(path), Some(&value), "{path}");
    }
}

#[test]
fn a_surcharge_is_read_first_and_goes_with_the_first_charge_alone() {
    let known = Known::new(&json!({}));
    let spec = format!("{HEAD}surcharge: apply\n{AT_ONCE}");
    let draft = known.step(&spec, None);
    assert_eq!(draft.verdict, PlannedAction::Read);
    let Some(StepWork::Read(reading)) = &draft.work else { panic!("{draft:?}") };
    let about = json!({"bank_account": "bank_o", "type": "card", "amount": 5000});
    assert_eq!((reading.name, &reading.subject), ("charge.surcharge", &about));
    assert_eq!(
        money(&draft),
        ["50.00 USD charged_now_before_surcharge", "50.00 USD collected_per_occurrence"]
    );
    let fact = json!({"about": about, "surcharge_amount": 150, "total_amount": 5150});
    let mut have = observed(None, None, json!({"surcharge": fact}));
    let draft = known.step(&spec, Some(&have));
    let body = &effect(&draft).request.body;
    assert_eq!((&body["amount"], &body["surcharge_amount"]), (&json!(5150), &json!(150)));
    assert_eq!(body["recur"]["amount"], 5000);
    assert_eq!(money(&draft), ["51.50 USD charged_now", "50.00 USD collected_per_occurrence"]);
    let other = known.step(&spec.replace("50.00", "60.00"), Some(&have));
    assert_eq!(other.verdict, PlannedAction::Read, "another amount is another question");
    have.at -= chrono::TimeDelta::hours(2);
    assert_eq!(
        known.step(&spec, Some(&have)).verdict,
        PlannedAction::Read,
        "an old answer is asked again"
    );
}

#[test]
fn an_earlier_charge_is_the_target_and_its_description_comes_afterwards() {
    let known = Known::new(&json!({}));
    let spec =
        format!("merchant: acme\namount: 50.00 USD\nfrom_charge: ch1\ndescription: Rent\n{LATER}");
    let draft = known.step(&spec, None);
    let effect = effect(&draft);
    assert_eq!(effect.request.path, "/v1/charges/ch1/schedule");
    assert_eq!(
        effect.request.body,
        json!({"amount": 5000, "schedule": {"start": "2026-12-01", "interval_unit": "MONTH", "interval_delay": 1}})
    );
    assert_eq!(effect.target, Some(RemoteId::new("ch1").unwrap()));
    assert!(effect.applied.spec.get("description").is_none());
    let have = observed(Some("r1"), Some(effect.applied.spec.clone()), json!({}));
    let draft = known.step(&spec, Some(&have));
    assert_eq!(draft.verdict, PlannedAction::Update);
    let described = format!("Rent [{}]", mark());
    assert_eq!(self::effect(&draft).request.body, json!({ "description": described }));
}

#[test]
fn today_for_the_merchant_is_no_start() {
    let start = |date: &str| format!("{HEAD}{}", LATER.replace("2026-12-01", date));
    let known = Known::new(&json!({}));
    let told = idle(&known.step(&start("2026-11-21"), None));
    assert!(
        told.starts_with("Blocked DueToday: the charge would start today, 2026-11-21"),
        "{told}"
    );
    assert!(told.contains("first_occurrence_due_immediately"), "{told}");
    assert_eq!(known.step(&start("2026-11-22"), None).verdict, PlannedAction::Create);
    assert_eq!(known.step(&start("2026-11-20"), None).verdict, PlannedAction::Create);
    let abroad = Known::new(&json!({"timezone": "UTC"}));
    assert_eq!(abroad.step(&start("2026-11-22"), None).verdict, PlannedAction::Blocked);
    assert_eq!(abroad.step(&start("2026-11-21"), None).verdict, PlannedAction::Create);
}

#[test]
fn what_the_account_or_the_merchant_forbids_is_blocked_with_its_reason() {
    let account = |enabled: bool| {
        json!({"id": "card1", "name": "Card", "type": "MerchantAccount", "currency": "USD",
            "recurring_charges_enabled": enabled})
    };
    let off = Known::new(&json!({"accounts": [account(false)]}));
    let required = Known::new(&json!({"reference_required": true}));
    for way in [LATER, AT_ONCE] {
        let spec = format!("{HEAD}{way}");
        assert_eq!(
            idle(&off.step(&spec, None)),
            "Blocked AccountUnfit: recurring charges are not enabled on the account \"Card\": ask the service to enable them"
        );
        assert_eq!(
            idle(&required.step(&spec, None)),
            "Blocked AccountUnfit: the merchant requires a reference with every payment, and the service documents none for the payments of a recurring charge"
        );
    }
    let told = idle(&Known::new(&json!({})).step(&format!("{HEAD}account: eCheck\n{LATER}"), None));
    assert!(told.ends_with("the account \"eCheck\" does not take this type of method"), "{told}");
}

#[test]
fn a_change_sends_what_changed_and_blocks_what_a_patch_cannot_do() {
    let known = Known::new(&json!({}));
    let limits = "max_occurrences: 5\nmax_amount: 500.00 USD\n";
    let long = LATER.replace("delay: 1", "delay: 1, end: 2027-12-01, days: ['1']");
    let spec = format!("{HEAD}{limits}{long}");
    let applied = effect(&known.step(&spec, None)).applied.spec.clone();
    let have = observed(Some("r1"), Some(applied), json!({"status": "ACTIVE"}));
    let settled = known.step(&spec, Some(&have));
    assert_eq!((settled.verdict, settled.ready), (PlannedAction::Settled, true));
    let draft = known.step(&spec.replace("50.00", "55.00").replace(": 5\n", ": 6\n"), Some(&have));
    assert_eq!(effect(&draft).request.body, json!({"amount": 5500, "max_occurrences": 6}));
    assert_eq!(money(&draft), ["55.00 USD collected_per_occurrence"]);
    let weekly = spec.replace("MONTH", "WEEK").replace("start: 2026-12-01", "start: 2026-12-02");
    let body = effect(&known.step(&weekly, Some(&have))).request.body.clone();
    assert_eq!(body["schedule"]["interval_unit"], "WEEK");
    let blocked = |from: &str, to: &str, starts: &str| {
        let draft = known.step(&spec.replace(from, to), Some(&have));
        let told = idle(&draft);
        assert!(told.starts_with(&format!("Blocked {starts}")), "{told}");
    };
    blocked("max_occurrences: 5\n", "", "Unfit: max_occurrences: the service keeps a field");
    blocked("max_amount: 500.00 USD\n", "", "Unfit: max_amount: the service keeps a field");
    blocked(", end: 2027-12-01", "", "Unfit: schedule.end: the service keeps a field");
    blocked(", days: ['1']", "", "Unfit: schedule.days: the service keeps a field");
    blocked("start: 2026-12-01", "start: 2026-11-21", "DueToday: the charge would start today");
    blocked("max_occurrences: 5", "account: Card\nmax_occurrences: 5", "CannotChange: ");
    let euro = spec.replace("USD", "EUR");
    let told = idle(&known.step(&euro, Some(&have)));
    assert!(told.contains("cannot change a recurring charge's currency"), "{told}");
}

#[test]
fn a_surcharge_that_cannot_be_asked_for_blocks() {
    let banks =
        json!([{"id": "a", "name": "A", "trust": false}, {"id": "b", "name": "B", "trust": false}]);
    let spec = format!("{HEAD}surcharge: apply\n{AT_ONCE}");
    let told = idle(&Known::new(&json!({ "bank_accounts": banks })).step(&spec, None));
    assert!(told.contains("more than one bank account"), "{told}");
    let told = idle(&Known::new(&json!({"bank_accounts": null})).step(&spec, None));
    assert!(told.contains("no bank account of the merchant is known"), "{told}");
    let mut waiting = Known::new(&json!({}));
    waiting.ready.clear();
    let draft = waiting.step(&spec, None);
    assert!(matches!(draft.reason, Reason::WaitsFor(_)), "{}", draft.reason);
    assert_eq!(draft.verdict, PlannedAction::Create);
}
