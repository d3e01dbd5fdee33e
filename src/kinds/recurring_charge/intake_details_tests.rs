//! A payer's details for a charge that copied the earlier ones.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::base::hash::{Digest, sha256};
use crate::base::id::{IntentId, Key};
use crate::kinds::recurring_charge::step_tests::{HEAD, Known, LATER, effect, observed};
use crate::kinds::saved_method::SavedMethodKind;
use crate::kinds::schema::kind::SpecSchema;
use crate::kinds::secrets::redact;
use crate::kinds::testing::manifest;
use crate::model::change::PlannedAction;
use crate::model::plan::Reason;
use crate::model::state::observed::{AppliedSpec, Observed, ServiceRefusal};
use crate::model::state::token_attachment::{
    ATTACHED, CopiedMethod, SuppliedToken, TokenAttachment,
};

const INTAKE: &str = "merchant: acme\ntype: card\nsource: intake";
/// A minute before the step.
const CAME: &str = "2026-11-22T02:59:00Z";

fn method() -> Key {
    "SavedMethod/default/card".parse().unwrap()
}

/// Returns a world whose card was given by this token.
fn world(token: &[u8]) -> Known {
    let mut known = Known::new(&json!({}));
    let document = manifest("SavedMethod", "card", INTAKE);
    let mut spec = redact(SavedMethodKind::FIELDS, &document.spec, &[7; 32]);
    spec["source.given"] = SuppliedToken::details_marker(sha256(token));
    let saved = observed(Some("c1"), Some(spec), json!({"fingerprint": "f2"}));
    known.observed.insert(document.key.clone(), Arc::new(saved));
    known.manifests.insert(document.key.clone(), document);
    known
}

fn spec() -> String {
    format!("{HEAD}{LATER}")
}

/// Returns a charge that was created with the card of the first token, with this token for itself.
fn made(brought: Option<Value>) -> Observed {
    let applied = effect(&world(b"first").step(&spec(), None)).applied.clone();
    charge(applied, brought)
}

fn charge(applied: AppliedSpec, brought: Option<Value>) -> Observed {
    let facts = json!({"status": "ACTIVE", "account_id": "card1"});
    let mut have = observed(Some("r1"), None, facts);
    (have.exists, have.applied) = (true, Some(applied));
    if let Some(brought) = brought {
        have.facts[ATTACHED] = brought;
    }
    have
}

/// Returns the facts of a token that came for the charge beside this one of that method.
fn beside(token: Digest, method: Key, at: &str) -> Value {
    let one = TokenAttachment {
        key: "RecurringCharge/default/it".parse().unwrap(),
        merchant: "Merchant/default/acme".parse().unwrap(),
        generation: 0,
        token: "00".to_owned(),
        digest: sha256(b"own"),
        at: at.parse().unwrap(),
        actor: "payer".to_owned(),
        copied_method: Some(CopiedMethod { method, token }),
    };
    one.fact()
}

#[test]
fn a_charge_takes_what_its_method_was_given_by_the_token_that_came_for_it() {
    let (before, after) = (world(b"first"), world(b"second"));
    assert_eq!(before.step(&spec(), Some(&made(None))).verdict, PlannedAction::Settled);
    let brought = beside(sha256(b"second"), method(), CAME);
    let draft = after.step(&spec(), Some(&made(Some(brought))));
    assert_eq!((draft.verdict, &draft.reason), (PlannedAction::Update, &Reason::DetailsGiven));
    let change = effect(&draft);
    assert_eq!(change.name, "recurring.change");
    assert_eq!(change.request.body, json!({"method": {"$sealed": "00"}}));
    assert!(change.sealed && change.single_use.as_ref().unwrap().is_reusable);
    assert_eq!(change.expect["method.fingerprint"], "f2", "it holds what is saved");
    let settled = after.step(&spec(), Some(&charge(change.applied.clone(), None)));
    assert_eq!((settled.verdict, settled.ready), (PlannedAction::Settled, true));
}

#[test]
fn a_token_that_is_not_for_just_this_is_not_used() {
    let after = world(b"second");
    let other: Key = "SavedMethod/default/other".parse().unwrap();
    let old = "2026-11-22T02:55:00Z";
    for (what, brought) in [
        ("none came", None),
        (
            "its method was not saved by the one beside it",
            Some(beside(sha256(b"third"), method(), CAME)),
        ),
        ("it came beside another method's", Some(beside(sha256(b"second"), other, CAME))),
        ("it is five minutes old", Some(beside(sha256(b"second"), method(), old))),
    ] {
        let draft = after.step(&spec(), Some(&made(brought)));
        assert!(draft.work.is_none() && !draft.ready, "{what}");
        assert_eq!(
            (draft.verdict, draft.reason.word()),
            (PlannedAction::Wait, "AwaitsIntake"),
            "{what}"
        );
        let told = draft.reason.to_string();
        assert!(
            told.starts_with("the charge still pays by the earlier details of its method"),
            "{told}"
        );
        assert!(told.contains("waits for the payer's card once more: `reckon link"), "{told}");
    }
}

#[test]
fn a_refused_token_is_not_sent_again() {
    let refusal = ServiceRefusal {
        intent: IntentId::new(1),
        digest: sha256(b"any"),
        status: 422,
        problem: crate::model::outcome::ServiceProblem::from_code("code", "no"),
        at: CAME.parse().unwrap(),
    };
    let have = made(Some(beside(sha256(b"second"), method(), CAME)));
    let have = Observed { refusal: Some(refusal), ..have };
    assert_eq!(world(b"second").step(&spec(), Some(&have)).reason.word(), "AwaitsIntake");
}

#[test]
fn what_else_changes_goes_with_the_token_and_without_one() {
    let after = world(b"second");
    let more = spec().replace("50.00", "55.00");
    let draft = after.step(&more, Some(&made(None)));
    assert_eq!(effect(&draft).request.body, json!({"amount": 5500}));
    let brought = beside(sha256(b"second"), method(), CAME);
    let draft = after.step(&more, Some(&made(Some(brought))));
    assert_eq!(effect(&draft).request.body, json!({"amount": 5500, "method": {"$sealed": "00"}}));
}

#[test]
fn a_charge_that_is_complete_or_whose_details_nobody_wrote_down_waits_for_nothing() {
    let after = world(b"second");
    let mut complete = made(None);
    complete.facts["status"] = json!("COMPLETED");
    assert_eq!(after.step(&spec(), Some(&complete)).verdict, PlannedAction::Settled);
    let mut adopted = made(None);
    adopted.applied.as_mut().unwrap().spec.as_object_mut().unwrap().remove("method.details");
    assert_eq!(after.step(&spec(), Some(&adopted)).verdict, PlannedAction::Settled);
    adopted.facts[ATTACHED] = beside(sha256(b"second"), method(), CAME);
    assert_eq!(
        after.step(&spec(), Some(&adopted)).reason,
        Reason::DetailsGiven,
        "and takes what comes"
    );
}
