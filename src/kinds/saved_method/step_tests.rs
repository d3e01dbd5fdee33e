use std::sync::Arc;

use serde_json::{Value, json};

use crate::base::id::{Key, RemoteId};
use crate::kinds::planning::step::{PlanningView, StepCx, StepDecision};
use crate::kinds::saved_method::step::{self, ROW};
use crate::kinds::testing::manifest;
use crate::model::change::PlannedAction;
use crate::model::effect::{Effect, StepWork};
use crate::model::manifest::{Deletion, Manifest, OnDoubt};
use crate::model::plan::Reason;
use crate::model::state::observed::Observed;

const AT: &str = "2026-11-21T18:00:00.000Z";

/// One merchant in test mode that is ready, and the users of the method.
struct Around {
    users: Vec<Key>,
}

impl PlanningView for Around {
    fn manifest(&self, key: &Key) -> Option<Arc<Manifest>> {
        (key.kind.as_str() == "Merchant").then(|| {
            manifest("Merchant", "acme", "mode: test\ncredentials: {access_token: {env: A}}")
        })
    }

    fn observed_state(&self, key: &Key) -> Option<Arc<Observed>> {
        Some(Arc::new(Observed::unknown(key.clone(), AT.parse().unwrap())))
    }

    fn is_ready(&self, _: &Key) -> bool {
        true
    }

    fn users(&self, _: &Key) -> Vec<Key> {
        self.users.clone()
    }
}

fn with_cx<T>(users: &[&str], ask: impl FnOnce(&StepCx<'_>) -> T) -> T {
    let users = users.iter().map(|key| key.parse().unwrap()).collect();
    let (view, digest_key) = (Around { users }, [9; 32]);
    ask(&StepCx {
        partner: "acme",
        digest_key: &digest_key,
        view: &view,
        on_doubt: OnDoubt::Recreate,
        live_refused: None,
        now: chrono::DateTime::UNIX_EPOCH,
    })
}

fn step(manifest: &Manifest, have: Option<&Observed>) -> StepDecision {
    with_cx(&[], |cx| step::step(cx, manifest, have))
}

fn bank(surname: &str, description: &str) -> Arc<Manifest> {
    let spec = format!(
        "merchant: acme\ntype: bank\ndescription: {description}\nsource: {{bank: {{routing_number: '000000013', account_number: '12345678', account_type: SAVINGS, given_name: Jane, surname: {surname}}}}}"
    );
    manifest("SavedMethod", "it", &spec)
}

fn effect(draft: &StepDecision) -> &Effect {
    match &draft.work {
        Some(StepWork::Effect(effect)) => effect,
        other => panic!("no effect: {other:?}, {:?}", draft.reason),
    }
}

/// Returns the state after the bank of this document was saved, with these facts.
fn saved(document: &Manifest, facts: Value) -> Observed {
    let applied = effect(&step(document, None)).applied.clone();
    let mut known =
        Observed::unknown("Merchant/default/acme".parse().unwrap(), AT.parse().unwrap());
    (known.exists, known.facts) = (true, facts);
    known.remote_id = Some(RemoteId::new("b1").unwrap());
    known.applied = Some(applied);
    known
}

/// Returns the facts that a token of this document leaves.
fn token(document: &Manifest) -> Value {
    let made = json!({"for": document.digest.to_string(), "at": AT, "fingerprint": "f1"});
    json!({"token": {"sealed": "00"}, "token_made": made})
}

#[test]
fn a_bank_is_saved_with_its_mark_and_its_number_is_resolved_late() {
    let draft = step(&bank("Doe", "first"), None);
    assert_eq!((draft.verdict, &draft.reason), (PlannedAction::Create, &Reason::NotCreated));
    let effect = effect(&draft);
    assert_eq!((effect.name, effect.request.path.as_str()), ("bank.save", "/v1/banks"));
    assert!(effect.sealed);
    let body = &effect.request.body;
    assert_eq!(body["account_number"], json!({"$secret": {"literal": "12345678"}}));
    assert_eq!(body["reference"], json!(effect.source_id.mark()));
    assert_eq!(
        (&body["type"], &body["surname"], &body["description"]),
        (&json!("bank"), &json!("Doe"), &json!("first"))
    );
    let asked: Vec<&str> = effect.expect.keys().map(String::as_str).collect();
    assert_eq!(asked, ["account_type", "reference"], "no private value is kept in the open");
}

#[test]
fn a_description_changes_in_place_and_without_a_token() {
    let known = saved(&bank("Doe", "first"), json!({}));
    let draft = step(&bank("Doe", "second"), Some(&known));
    assert_eq!((draft.verdict, &draft.reason), (PlannedAction::Update, &Reason::Changed));
    let effect = effect(&draft);
    assert_eq!((effect.name, effect.request.path.as_str()), ("bank.change", "/v1/banks/b1"));
    assert!(!effect.sealed && effect.single_use.is_none());
    assert_eq!(effect.request.body["description"], "second");
}

#[test]
fn a_new_holder_takes_a_token_first_and_then_the_change_by_it() {
    let (before, after) = (bank("Doe", "first"), bank("Roe", "first"));
    let draft = step(&after, Some(&saved(&before, json!({}))));
    assert_eq!((draft.verdict, &draft.reason), (PlannedAction::Update, &Reason::Renewed));
    let made = effect(&draft);
    assert_eq!((made.name, made.request.path.as_str()), ("token.create", "/v1/tokens"));
    assert!(made.sealed && made.request.body["surname"] == "Roe");
    let put_on_the_service = &saved(&before, json!({})).applied.unwrap();
    assert_eq!(made.applied.spec, put_on_the_service.spec, "a token changes nothing of the bank");
    assert_eq!(made.applied.digest, after.digest, "a refusal is one of this document");

    let draft = step(&after, Some(&saved(&before, token(&after))));
    let change = effect(&draft);
    assert_eq!((change.name, change.request.path.as_str()), ("bank.change", "/v1/banks/b1"));
    assert_eq!(change.request.body["token_id"], json!({"$sealed": "00"}));
    assert!(change.sealed);
    assert_eq!((&change.expect["fingerprint"], &change.expect["id"]), (&json!("f1"), &json!("b1")));
    let once = change.single_use.as_ref().unwrap();
    assert_eq!(once.expires_at.to_rfc3339(), "2026-11-21T18:03:00+00:00");
    assert_eq!(once.clearing_facts, json!({"token": null, "token_made": null}));
}

#[test]
fn a_token_of_another_document_is_not_used() {
    let before = bank("Doe", "first");
    let known = saved(&before, token(&bank("Roe", "first")));
    assert_eq!(effect(&step(&bank("Poe", "first"), Some(&known))).name, "token.create");
    let draft = step(&before, Some(&known));
    assert_eq!(draft.verdict, PlannedAction::Settled, "nothing differs, so no token is used");
}

#[test]
fn what_a_method_is_of_never_changes() {
    let known = saved(&bank("Doe", "first"), json!({}));
    let card = "merchant: acme\ntype: card\ndescription: first\nsource: {card: {number: 4242424242424242, exp_month: 8, exp_year: 31}}";
    let draft = step(&manifest("SavedMethod", "it", card), Some(&known));
    assert_eq!(draft.reason, Reason::CannotChange(vec!["type".to_owned()]));
    assert!(draft.work.is_none());
}

#[test]
fn a_bank_goes_with_its_document_only_where_that_said_so_and_nothing_uses_it() {
    let mut known = saved(&bank("Doe", "first"), json!({}));
    let key: Key = "SavedMethod/default/it".parse().unwrap();
    let gone =
        |users: &[&str], known: &Observed| with_cx(users, |cx| (ROW.plan_removal)(cx, &key, known));
    assert_eq!(gone(&[], &known).verdict, PlannedAction::Orphan);
    known.applied.as_mut().unwrap().deletion = Deletion::Delete;
    let draft = gone(&[], &known);
    let effect = effect(&draft);
    assert_eq!((effect.name, effect.request.path.as_str()), ("bank.delete", "/v1/banks/b1"));
    let monthly = "RecurringCharge/default/monthly";
    let used = gone(&[monthly], &known);
    assert_eq!(used.reason, Reason::InUse(vec![monthly.parse().unwrap()]));
    assert!(used.work.is_none());
}
