use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};

use crate::base::hash::sha256;
use crate::base::id::{IntentId, Key, RemoteId};
use crate::kinds::planning::step::{PlanningView, StepCx, StepDecision};
use crate::kinds::saved_method::source::awaited_intake;
use crate::kinds::saved_method::step;
use crate::kinds::testing::{good, link_problems, manifest, problems};
use crate::model::change::PlannedAction;
use crate::model::effect::{Effect, StepWork};
use crate::model::manifest::{Manifest, OnDoubt};
use crate::model::plan::Reason;
use crate::model::state::observed::{Observed, ServiceRefusal};
use crate::model::state::token_attachment::{ATTACHED, SuppliedToken, TokenAttachment};

const CARD: &str = "merchant: acme\ntype: card\nsource: intake\ndescription: Jane's";
const BANK: &str = "merchant: acme\ntype: bank\nsource: intake";

struct Around(bool);

impl PlanningView for Around {
    fn manifest(&self, key: &Key) -> Option<Arc<Manifest>> {
        (key.kind.as_str() == "Merchant").then(|| {
            manifest("Merchant", "acme", "mode: live\ncredentials: {access_token: {env: A}}")
        })
    }

    fn observed_state(&self, key: &Key) -> Option<Arc<Observed>> {
        Some(Arc::new(Observed::unknown(key.clone(), at())))
    }

    fn is_ready(&self, _: &Key) -> bool {
        self.0
    }

    fn users(&self, _: &Key) -> Vec<Key> {
        Vec::new()
    }
}

fn at() -> DateTime<Utc> {
    "2026-11-21T18:00:00Z".parse().unwrap()
}

/// Returns the step `later_s` seconds after the token arrived.
fn step(spec: &str, have: Option<&Observed>, later_s: i64) -> StepDecision {
    step_of(&manifest("SavedMethod", "it", spec), have, (later_s, true))
}

fn step_of(
    document: &Manifest,
    have: Option<&Observed>,
    (later_s, ready): (i64, bool),
) -> StepDecision {
    let (view, digest_key) = (Around(ready), [9; 32]);
    let cx = StepCx {
        partner: "acme",
        digest_key: &digest_key,
        view: &view,
        on_doubt: OnDoubt::Recreate,
        live_refused: None,
        now: at().checked_add_signed(TimeDelta::seconds(later_s)).unwrap(),
    };
    step::step(&cx, document, have)
}

/// Returns the state after a token arrived for this generation.
fn attached(generation: u32) -> Observed {
    let merchant: Key = "Merchant/default/acme".parse().unwrap();
    let one = TokenAttachment {
        key: "SavedMethod/default/it".parse().unwrap(),
        merchant: merchant.clone(),
        generation,
        token: "00".to_owned(),
        digest: sha256(b"t"),
        at: at(),
        actor: "payer".to_owned(),
        copied_method: None,
    };
    Observed { facts: json!({ ATTACHED: one.fact() }), ..Observed::unknown(merchant, at()) }
}

fn refusal(status: u16, text: &str) -> ServiceRefusal {
    ServiceRefusal {
        intent: IntentId::new(1),
        digest: sha256(b"any"),
        status,
        problem: crate::model::outcome::ServiceProblem::from_code("code", text),
        at: at(),
    }
}

fn effect(draft: &StepDecision) -> &Effect {
    match &draft.work {
        Some(StepWork::Effect(effect)) => effect,
        other => panic!("no effect: {other:?}, {:?}", draft.reason),
    }
}

#[test]
fn a_payer_may_give_a_card_or_a_bank_account_also_of_a_live_merchant() {
    let live = manifest("Merchant", "acme", "mode: live\ncredentials: {access_token: {env: A}}");
    for (spec, sort) in [(CARD, "card"), (BANK, "bank")] {
        assert_eq!(problems("SavedMethod", spec), "");
        let canonical = good("SavedMethod", spec);
        assert_eq!((&canonical["source"], &canonical["type"]), (&json!("intake"), &json!(sort)));
        let document = manifest("SavedMethod", "it", spec);
        assert_eq!(link_problems(&[document, live.clone()]), "");
    }
}

#[test]
fn a_word_that_is_no_intake_is_told_and_never_repeated() {
    let wanted = "`intake`, or a mapping that fits `type`";
    for (source, found) in [("canary-text", "a text"), ("4539578763621486", "a number")] {
        let told =
            problems("SavedMethod", &CARD.replace("source: intake", &format!("source: {source}")));
        assert!(told.contains("@ spec.source: expected "), "{told}");
        assert!(told.contains(&format!("{wanted}, found {found} | write {wanted}")), "{told}");
        assert!(!told.contains(source), "{told}");
    }
    let nested = problems("SavedMethod", "merchant: acme\ntype: card\nsource: {intake: {}}");
    assert!(
        nested.starts_with("reckon::spec::unknown_field @ spec.source.intake (key)"),
        "{nested}"
    );
}

#[test]
fn it_waits_for_the_payer_and_that_is_no_error() {
    for (spec, sort) in [(CARD, "card"), (BANK, "bank")] {
        let draft = step(spec, None, 0);
        assert_eq!((draft.verdict, draft.reason.word()), (PlannedAction::Wait, "AwaitsIntake"));
        assert!(!draft.ready && draft.work.is_none() && !draft.reason.needs_operator());
        let told = draft.reason.to_string();
        assert!(
            told.starts_with(&format!("waits for the payer's {sort}: `reckon link ")),
            "{told}"
        );
    }
    let unready = step_of(&manifest("SavedMethod", "it", CARD), None, (0, false));
    let acme: Key = "Merchant/default/acme".parse().unwrap();
    assert_eq!(unready.reason, Reason::WaitsFor(vec![acme]), "there is no key for a page yet");
}

#[test]
fn a_token_that_was_brought_saves_it_with_its_mark() {
    for (spec, name, path, sort) in
        [(CARD, "card.save", "/v1/cards", "card"), (BANK, "bank.save", "/v1/banks", "bank")]
    {
        let draft = step(spec, Some(&attached(0)), 299);
        assert_eq!((draft.verdict, &draft.reason), (PlannedAction::Create, &Reason::NotCreated));
        let effect = effect(&draft);
        assert_eq!((effect.name, effect.request.path.as_str()), (name, path));
        assert!(effect.sealed, "the token is in the body");
        let mut body = json!({"token_id": {"$sealed": "00"}, "reference": effect.source_id.mark()});
        if sort == "card" {
            body["description"] = json!("Jane's");
        }
        assert_eq!(effect.request.body, body);
        assert_eq!((&effect.expect["type"], effect.expect.len()), (&json!(sort), 2));
        let once = effect.single_use.as_ref().unwrap();
        assert_eq!((once.expires_at, once.is_reusable), (at() + TimeDelta::minutes(5), true));
        assert_eq!(once.clearing_facts, json!({"attached": null}));
    }
}

#[test]
fn a_token_that_is_five_minutes_old_is_asked_for_again() {
    let draft = step(CARD, Some(&attached(0)), 300);
    assert!(draft.work.is_none() && draft.verdict == PlannedAction::Wait);
    let told = draft.reason.to_string();
    assert!(told.starts_with("the token expired before it was used"), "{told}");
    assert!(told.contains("open the link again; waits for the payer's card"), "{told}");
}

#[test]
fn a_refused_token_is_asked_for_again_with_the_words_of_the_service() {
    let refused = |status: u16, text: &str| {
        let known = Observed { refusal: Some(refusal(status, text)), ..attached(0) };
        let draft = step(CARD, Some(&known), 1);
        assert!(draft.work.is_none() && draft.verdict == PlannedAction::Wait);
        draft.reason.to_string()
    };
    let told = refused(404, "Token not found");
    assert!(
        told.starts_with("the one-time token was used or has expired: supply another"),
        "{told}"
    );
    let told = refused(422, "Card number is invalid");
    assert!(
        told.starts_with("the service did not save the details: Card number is invalid; waits"),
        "{told}"
    );
}

#[test]
fn a_token_of_another_generation_is_not_used() {
    let raised = Arc::unwrap_or_clone(manifest("SavedMethod", "it", CARD));
    let mut raised: Manifest = raised;
    raised.annotations.generation = 1;
    assert_eq!(step_of(&raised, Some(&attached(0)), (1, true)).reason.word(), "AwaitsIntake");
    assert!(step_of(&raised, Some(&attached(1)), (1, true)).work.is_some());
}

#[test]
fn what_is_saved_is_settled_until_its_payer_gives_another_one() {
    let known = saved(CARD, b"first");
    let brought = Observed { facts: attached(0).facts, ..known.clone() };
    let draft = step(CARD, Some(&brought), 1);
    assert_eq!((draft.verdict, &draft.reason), (PlannedAction::Update, &Reason::DetailsGiven));
    let change = effect(&draft);
    assert_eq!((change.name, change.request.path.as_str()), ("card.change", "/v1/cards/c1"));
    assert_eq!(change.request.body["token_id"], json!({"$sealed": "00"}));
    assert!(change.sealed && change.single_use.as_ref().unwrap().is_reusable);
    let given = SuppliedToken::details_marker(sha256(b"t"));
    assert_eq!(change.applied.spec["source.given"], given, "which token it was is kept");
    let after = Observed { applied: Some(change.applied.clone()), ..known.clone() };
    assert_eq!(step(CARD, Some(&after), 900).verdict, PlannedAction::Settled);
    let late = step(CARD, Some(&brought), 300);
    assert_eq!((late.verdict, late.ready), (PlannedAction::Settled, true), "it stays as it is");
    let refusal = refusal(422, "Card number is invalid");
    let refused = Observed { refusal: Some(refusal), ..brought.clone() };
    assert_eq!(step(CARD, Some(&refused), 1).verdict, PlannedAction::Settled);
    let told = awaited_intake(&manifest("SavedMethod", "it", CARD), Some(&refused), at());
    assert!(told.replaces && told.failure.unwrap().contains("Card number is invalid"));
    let both = step(&CARD.replace("Jane's", "Ours"), Some(&brought), 1);
    assert_eq!(effect(&both).request.body["description"], "Ours", "one change does both");
    let other = Observed { facts: attached(1).facts, ..known };
    assert_eq!(
        step(CARD, Some(&other), 1).verdict,
        PlannedAction::Settled,
        "of another generation"
    );
}

/// Returns the state of a method that was saved by this token, without a later one.
fn saved(spec: &str, token: &[u8]) -> Observed {
    let mut applied = effect(&step(spec, Some(&attached(0)), 1)).applied.clone();
    applied.spec["source.given"] = SuppliedToken::details_marker(sha256(token));
    let mut known = attached(0);
    (known.exists, known.facts, known.applied) = (true, json!({}), Some(applied));
    known.remote_id = Some(RemoteId::new("c1").unwrap());
    known
}

#[test]
fn what_is_saved_is_settled_and_asked_for_again_only_under_another_generation() {
    let saved = |spec: &str, facts: Value| {
        let applied = effect(&step(spec, Some(&attached(0)), 1)).applied.clone();
        let mut known = attached(0);
        (known.exists, known.facts, known.applied) = (true, facts, Some(applied));
        known.remote_id = Some(RemoteId::new("c1").unwrap());
        known
    };
    let known = saved(CARD, json!({}));
    let draft = step(CARD, Some(&known), 900);
    assert_eq!((draft.verdict, draft.ready), (PlannedAction::Settled, true), "{:?}", draft.reason);
    let changed = step(&CARD.replace("Jane's", "Ours"), Some(&known), 900);
    assert_eq!(effect(&changed).name, "card.change", "a description changes without a payer");
    let written = "merchant: acme\ntype: card\ndescription: Jane's\nsource: {card: {number: 4242424242424242, exp_month: 8, exp_year: 31}}";
    assert_eq!(effect(&step(written, Some(&known), 900)).name, "token.create");
    let mut before = known.clone();
    let applied = before.applied.as_mut().unwrap();
    applied.spec["source"] = json!({"card": {"exp_month": 8}});
    let draft = step(CARD, Some(&before), 900);
    assert!(draft.work.is_none() && draft.verdict == PlannedAction::Wait);
    let told = draft.reason.to_string();
    assert!(told.starts_with("the saved details came from the document"), "{told}");
    assert!(told.contains("raise reckon.dev/generation"), "{told}");
    let mut raised: Manifest = Arc::unwrap_or_clone(manifest("SavedMethod", "it", CARD));
    raised.annotations.generation = 1;
    assert_eq!(step_of(&raised, Some(&known), (900, true)).reason.word(), "AwaitsIntake");
}
