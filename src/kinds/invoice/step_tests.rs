//! Planned steps of an invoice: from documents and known facts to a verdict, its money and its
//! request.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use crate::base::hash::sha256;
use crate::base::id::{Key, RemoteId};
use crate::kinds::invoice::step::{ROW, step};
use crate::kinds::planning::step::{PlanningView, StepCx, StepDecision};
use crate::kinds::testing::manifest;
use crate::model::change::PlannedAction;
use crate::model::effect::{Effect, StepWork};
use crate::model::manifest::{Deletion, Manifest, OnDoubt};
use crate::model::state::observed::{AppliedSpec, Observed};

const HEAD: &str = "merchant: acme\ncontact: jane\ninvoice_date: 2026-11-30\nline_items: [{description: A, rate_per_quantity: 10.00 USD}]\n";
const LETTER: &str = "bank_account: Operating\nattachments: [{id: fref_0}, {file: letters/a.pdf}]";

/// A merchant in test mode, a contact, and their known state.
struct Known {
    manifests: BTreeMap<Key, Arc<Manifest>>,
    observed: BTreeMap<Key, Arc<Observed>>,
}

impl PlanningView for Known {
    fn manifest(&self, key: &Key) -> Option<Arc<Manifest>> {
        self.manifests.get(key).cloned()
    }

    fn observed_state(&self, key: &Key) -> Option<Arc<Observed>> {
        self.observed.get(key).cloned()
    }

    fn is_ready(&self, key: &Key) -> bool {
        self.observed.contains_key(key)
    }

    fn users(&self, _: &Key) -> Vec<Key> {
        self.observed.keys().cloned().collect()
    }
}

fn observed(id: Option<&str>, exists: bool, facts: Value) -> Observed {
    let applied = AppliedSpec {
        spec: json!({"reference": "old"}),
        digest: sha256(b"old"),
        generation: 0,
        deletion: Deletion::Orphan,
    };
    Observed {
        remote_id: id.map(|id| RemoteId::new(id).unwrap()),
        exists,
        applied: Some(applied),
        facts,
        ..Observed::unknown("Merchant/default/acme".parse().unwrap(), DateTime::UNIX_EPOCH)
    }
}

impl Known {
    fn new() -> Self {
        let facts = json!({
            "timezone": "America/Chicago",
            "bank_accounts": [{"id": "bank_o", "name": "Operating"}],
            "other_bank_accounts": [{"id": "bank_l", "name": "Operating"}, {"id": "bank_t", "name": "Trust"}],
        });
        let merchant =
            manifest("Merchant", "acme", "mode: test\ncredentials: {authorization_code: {env: C}}");
        let contact: Key = "Contact/default/jane".parse().unwrap();
        let jane = observed(Some("p_1"), true, json!({"test_mode": true}));
        let observed = BTreeMap::from([
            (merchant.key.clone(), Arc::new(observed(None, true, facts))),
            (contact, Arc::new(jane)),
        ]);
        Self { manifests: BTreeMap::from([(merchant.key.clone(), merchant)]), observed }
    }

    fn know(&mut self, key: &str, known: Observed) {
        self.observed.insert(key.parse().unwrap(), Arc::new(known));
    }

    fn cx(&self) -> StepCx<'_> {
        StepCx {
            partner: "acme",
            digest_key: &[7; 32],
            view: self,
            on_doubt: OnDoubt::Hold,
            live_refused: None,
            now: DateTime::<Utc>::UNIX_EPOCH,
        }
    }

    fn step(&self, manifest: &Manifest, have: Option<&Observed>) -> StepDecision {
        step(&self.cx(), manifest, have)
    }
}

fn invoice(rest: &str, generation: u32) -> Manifest {
    let mut manifest = Arc::unwrap_or_clone(manifest("Invoice", "it", &format!("{HEAD}{rest}")));
    manifest.annotations.generation = generation;
    manifest
}

fn effect(draft: StepDecision) -> Effect {
    match draft.work {
        Some(StepWork::Effect(effect)) => effect,
        other => panic!("{other:?} ({})", draft.reason),
    }
}

/// Returns the state of the invoice after the answer to the upload.
fn uploaded(upload: &Effect, state: &str) -> Observed {
    let fact = json!({"contact": upload.subject["contact"], "id": "fref_1", "state": state});
    let name = format!("file.{}", upload.subject["file"].as_str().unwrap());
    observed(None, false, json!({name: fact}))
}

#[test]
fn a_file_is_uploaded_then_confirmed_and_only_then_named() {
    let mut known = Known::new();
    let wanted = invoice(LETTER, 0);
    let draft = known.step(&wanted, None);
    assert_eq!(draft.verdict, PlannedAction::Create);
    let shown: Vec<_> = draft.changes.iter().map(|change| change.path.as_str()).collect();
    assert!(shown.contains(&"attachments[1].sha256") && shown.contains(&"attachments[1].size"));
    let upload = effect(draft);
    assert_eq!((upload.name, upload.request.path.as_str()), ("file.upload", "/contacts/p_1/files"));
    assert_eq!(upload.request.body["file_name"], "a.pdf");
    assert_eq!(upload.request.body["content"]["$file"], "letters/a.pdf");
    assert!(upload.sealed && upload.applied.spec.is_null(), "nothing of the invoice is there");
    let draft = known.step(&wanted, Some(&uploaded(&upload, "processing")));
    let Some(StepWork::Read(reading)) = draft.work else { panic!("{:?}", draft.work) };
    assert_eq!((reading.name, &reading.subject["id"]), ("file.state", &json!("fref_1")));
    let made = effect(known.step(&wanted, Some(&uploaded(&upload, "completed"))));
    assert_eq!(made.name, "invoice.create");
    assert_eq!(made.request.body["attachments"], json!([{"id": "fref_0"}, {"id": "fref_1"}]));
    assert_eq!(made.expect["attachments"], made.request.body["attachments"]);
    known.know("Invoice/default/other", uploaded(&upload, "completed"));
    assert_eq!(effect(known.step(&wanted, None)).name, "invoice.create", "one upload serves both");
    known.know("Contact/default/jane", observed(Some("p_2"), true, json!({})));
    assert_eq!(effect(known.step(&wanted, None)).name, "file.upload", "another contact");
}

#[test]
fn a_raised_generation_makes_a_new_invoice_and_says_that_the_old_one_stays_payable() {
    let known = Known::new();
    let have = observed(Some("i_1"), true, json!({"invoice_number": "1001", "status": "pending"}));
    let draft = known.step(&invoice("bank_account: Operating", 2), Some(&have));
    assert_eq!(draft.reason.word(), "Replaced");
    let replaces = draft.replaces.as_ref().unwrap();
    assert_eq!(
        replaces.to_string(),
        "old invoice 1001 stays payable; the new one is acme:Invoice/default/it;r2"
    );
    assert_eq!(serde_json::to_value(replaces).unwrap()["old_id"], "i_1");
    let total: Vec<_> = draft.money.iter().map(|one| (one.amount.minor(), one.meaning)).collect();
    assert_eq!(total, [(1000, "invoiced")], "the old one is not asked for again");
    let upload = effect(known.step(&invoice(LETTER, 2), Some(&have)));
    assert_eq!(upload.applied.spec["reference"], "old", "the old one stays known meanwhile");
    assert_eq!(upload.applied.generation, 0);
    let nameless =
        known.step(&invoice("bank_account: Operating", 1), Some(&observed(None, true, json!({}))));
    assert!(nameless.replaces.unwrap().to_string().contains("(number unknown) stays payable"));
    assert!(known.step(&invoice("bank_account: Operating", 0), Some(&have)).replaces.is_none());
}

#[test]
fn everything_that_a_test_invoice_names_is_for_tests() {
    let told = |known: &Known, bank: &str| {
        let draft = known.step(&invoice(&format!("bank_account: {bank}"), 0), None);
        assert!(
            draft.verdict == PlannedAction::Blocked
                && draft.money.is_empty()
                && draft.work.is_none()
        );
        format!("{}: {}", draft.reason.word(), draft.reason)
    };
    let mut known = Known::new();
    for bank in ["bank_l", "Trust"] {
        assert_eq!(
            told(&known, bank),
            format!(
                "OtherMode: the bank account {bank:?} is for live mode, and the invoice is in test mode"
            )
        );
    }
    assert!(told(&known, "Savings").starts_with("AccountUnfit: the merchant has no bank account"));
    known.know("Contact/default/jane", observed(Some("p_1"), true, json!({"test_mode": false})));
    assert_eq!(
        told(&known, "Operating"),
        "OtherMode: Contact/jane was made for live mode, and the invoice is in test mode"
    );
}

#[test]
fn a_portal_link_is_offered_once_the_invoice_exists() {
    let known = Known::new();
    let offer = |have: &Observed| {
        (ROW.on_demand)(&known.cx(), &invoice("bank_account: Operating", 0), have)
    };
    assert!(offer(&observed(None, false, json!({}))).is_none());
    let link = offer(&observed(Some("i_1"), true, json!({"contact_id": "p_old"}))).unwrap();
    assert_eq!((link.name, link.request.path.as_str()), ("contact.hash", "/contacts/p_old/hash"));
    assert_eq!(link.applied.spec["reference"], "old", "what was put on the service stays known");
    let link = offer(&observed(Some("i_1"), true, json!({}))).unwrap();
    assert_eq!(link.request.path, "/contacts/p_1/hash");
}
