//! Changes of a method: the token first, then the change by it.

use serde_json::{Value, json};

use crate::base::id::{Key, RemoteId};
use crate::kinds::recurring_charge::step_tests::{HEAD, Known, LATER, effect, idle, observed};
use crate::kinds::testing::manifest;
use crate::model::change::PlannedAction;
use crate::model::plan::Reason;
use crate::model::state::observed::{AppliedSpec, Observed};

const AT: &str = "2026-11-22T02:59:00.000Z";

fn card(year: &str) -> String {
    format!(
        "merchant: acme\ntype: card\nsource: {{card: {{number: {{env: C}}, exp_month: 1, exp_year: {year}}}}}"
    )
}

/// Returns a world in which a saved method matches this document.
fn world(name: &str, document: &str) -> Known {
    let mut known = Known::new(&json!({}));
    known.save(name, document);
    known
}

/// Returns a charge that was created with this card, with these facts.
fn made(by: &Known, facts: &Value) -> Observed {
    let applied = effect(&by.step(&format!("{HEAD}{LATER}"), None)).applied.clone();
    of(applied, facts)
}

fn of(applied: AppliedSpec, facts: &Value) -> Observed {
    let mut all = json!({"status": "ACTIVE", "account_id": "card1"});
    for (name, value) in facts.as_object().unwrap() {
        all[name] = value.clone();
    }
    let mut have = observed(Some("r1"), None, all);
    (have.exists, have.applied) = (true, Some(applied));
    have
}

#[test]
fn details_that_change_reach_the_charge_by_a_token_of_their_own() {
    let (before, after) = (world("card", &card("31")), world("card", &card("32")));
    let spec = format!("{HEAD}{LATER}");
    let have = made(&before, &json!({}));
    assert_eq!(before.step(&spec, Some(&have)).verdict, PlannedAction::Settled);
    let draft = after.step(&spec, Some(&have));
    assert_eq!((draft.verdict, &draft.reason), (PlannedAction::Update, &Reason::Renewed));
    assert_eq!(draft.changes[0].path, "method.details");
    let token = effect(&draft).clone();
    assert_eq!((token.name, token.request.path.as_str()), ("token.create", "/v1/tokens"));
    assert_eq!(
        token.request.body,
        json!({"type": "card", "exp_month": 1, "exp_year": 2032, "reference": token.source_id.mark(),
            "number": {"$secret": {"env": "C"}, "$of": "SavedMethod/default/card"}}),
        "it carries the mark of the charge"
    );
    assert!(token.sealed && token.request.account.as_deref() == Some("card1"));
    assert_eq!(Some(&token.applied.spec), have.applied.as_ref().map(|old| &old.spec));

    let about = json!({"for": token.applied.digest.to_string(), "at": AT, "fingerprint": "f1"});
    let fresh = json!({"token": {"sealed": "00"}, "token_made": about});
    let have = made(&before, &fresh);
    let change = after.step(&spec.replace("50.00", "55.00"), Some(&have));
    assert_eq!(effect(&change).name, "token.create", "a token is for one change only");
    let change = after.step(&spec, Some(&have));
    let change = effect(&change);
    assert_eq!(change.name, "recurring.change");
    assert_eq!(change.request.body, json!({"method": {"$sealed": "00"}}));
    assert!(change.sealed && change.single_use.is_some());
    assert_eq!(
        (&change.expect["method.fingerprint"], &change.expect["method.exp_year"]),
        (&json!("f1"), &json!(2032))
    );
    let have = of(change.applied.clone(), &json!({}));
    let settled = after.step(&spec, Some(&have));
    assert_eq!((settled.verdict, settled.ready), (PlannedAction::Settled, true));
}

#[test]
fn another_method_goes_with_what_else_changed() {
    let mut known = world("card", &card("31"));
    known.save("other", &card("32"));
    let have = made(&known, &json!({}));
    let spec = format!("{HEAD}{LATER}").replace("method: card", "method: other");
    let draft = known.step(&spec.replace("50.00", "55.00"), Some(&have));
    let token = effect(&draft);
    assert_eq!(token.request.body["number"]["$of"], "SavedMethod/default/other");
    let about = json!({"for": token.applied.digest.to_string(), "at": AT, "fingerprint": "f1"});
    let have = made(&known, &json!({"token": {"sealed": "00"}, "token_made": about}));
    let draft = known.step(&spec.replace("50.00", "55.00"), Some(&have));
    assert_eq!(effect(&draft).request.body, json!({"amount": 5500, "method": {"$sealed": "00"}}));
}

#[test]
fn what_cannot_be_made_a_token_of_is_told() {
    let mut known = world("card", &card("31"));
    let have = made(&known, &json!({}));
    known.forget("other");
    let spec = format!("{HEAD}{LATER}").replace("method: card", "method: other");
    let told = idle(&known.step(&spec, Some(&have)));
    assert!(
        told.starts_with("Blocked Unfit: method: the service accepts other details only by a one-time token, which needs the details of SavedMethod/other;"),
        "{told}"
    );
}

#[test]
fn a_charge_that_is_complete_or_older_than_the_digest_is_left_alone() {
    let (before, after) = (world("card", &card("31")), world("card", &card("32")));
    let spec = format!("{HEAD}{LATER}");
    let complete = made(&before, &json!({"status": "COMPLETED"}));
    assert_eq!(after.step(&spec, Some(&complete)).verdict, PlannedAction::Settled);
    let mut old = made(&before, &json!({}));
    if let Some(applied) = &mut old.applied {
        applied.spec.as_object_mut().unwrap().remove("method.details");
    }
    assert_eq!(after.step(&spec, Some(&old)).verdict, PlannedAction::Settled);
}

#[test]
fn a_new_charge_has_what_was_saved_and_not_what_the_document_says_since() {
    let known = world("card", &card("31"));
    let (saved, mut ahead) = (made(&known, &json!({})), world("card", &card("31")));
    let key: Key = "SavedMethod/default/card".parse().unwrap();
    ahead.manifests.insert(key, manifest("SavedMethod", "card", &card("32")));
    let made = effect(&ahead.step(&format!("{HEAD}{LATER}"), None)).applied.clone();
    assert_eq!(made.spec["method.details"], saved.applied.unwrap().spec["method.details"]);
}

impl Known {
    /// Adds a saved method that matches its document.
    fn save(&mut self, name: &str, document: &str) {
        let document = manifest("SavedMethod", name, document);
        let fields =
            <crate::kinds::saved_method::SavedMethodKind as crate::kinds::schema::kind::SpecSchema>::FIELDS;
        let spec = crate::kinds::secrets::redact(fields, &document.spec, &[7; 32]);
        let mut saved = observed(Some("c1"), Some(spec), json!({}));
        saved.remote_id = Some(RemoteId::new(name).unwrap());
        self.ready.insert(document.key.clone());
        self.observed.insert(document.key.clone(), std::sync::Arc::new(saved));
        self.manifests.insert(document.key.clone(), document);
    }

    /// Adds a saved method that exists without its document.
    fn forget(&mut self, name: &str) {
        let key: Key = format!("SavedMethod/default/{name}").parse().unwrap();
        self.save(name, &card("31"));
        self.manifests.remove(&key);
    }
}
