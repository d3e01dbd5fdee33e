//! Documents and journal records for states in memory.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use crate::base::hash::{SourceId, sha256};
use crate::base::id::{IntentId, Key, Mode};
use crate::base::money::{Currency, Money};
use crate::model::effect::{Exposure, ExposureCounts, MoneyMove, SpendRequest};
use crate::model::events::event::Polled;
use crate::model::events::hook::{ActionRequest, HookRun};
use crate::model::events::hook_run::{HookFailure, HookRunRecord, ScriptIdentity};
use crate::model::intent::{Intent, IntentProgress};
use crate::model::operator::{PlanApproval, Suspension};
use crate::model::record::Record;
use crate::model::state::lifecycle::Restored;
use crate::model::state::observed::{FactSource, Observation};
use crate::model::state::orphan::{UnknownObject, UnknownObjectsFound};

/// The time of every fixture at its beginning.
pub(crate) const NOW: &str = "2029-12-01T10:00:00Z";

pub(crate) const MERCHANT: &str = "apiVersion: reckon.dev/v1
kind: Merchant
metadata: {name: acme}
spec:
  mode: test
  timezone: America/Chicago
  credentials: {authorization_code: {env: CODE_ACME}}
";

pub(crate) fn now() -> DateTime<Utc> {
    NOW.parse().unwrap()
}

pub(crate) fn key(name: &str) -> Key {
    name.parse().unwrap()
}

pub(crate) fn merchant() -> Key {
    key("Merchant/acme")
}

/// Returns what the service shows of the merchant, with credentials in the open.
pub(crate) fn merchant_facts() -> Value {
    json!({"mode": "test", "public_key": "m_0123456789abcdefghij", "secret_key": "sk_1", "token": "tok_1"})
}

/// Returns a document of the merchant.
pub(crate) fn document(kind: &str, name: &str, spec: &str) -> String {
    annotated_document(kind, name, "", spec)
}

/// Returns a document of the merchant with annotations, such as `reckon.dev/suspend: "true"`.
pub(crate) fn annotated_document(kind: &str, name: &str, annotations: &str, spec: &str) -> String {
    format!(
        "apiVersion: reckon.dev/v1\nkind: {kind}\nmetadata: {{name: {name}, annotations: {{{annotations}}}}}\nspec:\n  merchant: acme\n  {spec}\n"
    )
}

pub(crate) const CONTACT: &str =
    "first_name: Jane\n  last_name: Doe\n  email_addresses: [{address: jane@example.com}]";

pub(crate) fn contact(name: &str) -> String {
    document("Contact", name, CONTACT)
}

pub(crate) const CARD: &str = "type: card\n  source: {card: {number: {literal: \"4242424242424242\"}, exp_month: 12, exp_year: 2031}}";

pub(crate) fn card(name: &str) -> String {
    document("SavedMethod", name, CARD)
}

/// Returns a method whose details its payer gives.
pub(crate) fn intake(name: &str) -> String {
    document("SavedMethod", name, "type: card\n  source: intake")
}

pub(crate) fn recurring_charge(name: &str, method: &str) -> String {
    let schedule = "schedule: {start: 2030-02-01, interval_unit: MONTH, interval_delay: 1}";
    let spec = format!("method: {method}\n  amount: \"20.00 USD\"\n  {schedule}");
    document("RecurringCharge", name, &spec)
}

/// Returns the observation of an object without a document of its own.
pub(crate) fn observation_of(name: &str, id: &str, facts: Value) -> Observation {
    Observation {
        key: key(name),
        merchant: merchant(),
        at: now(),
        source: FactSource::Answer,
        remote_id: Some(id.parse().unwrap()),
        exists: Some(true),
        applied: None,
        facts,
    }
}

pub(crate) fn observation(name: &str, id: &str, facts: Value) -> Record {
    Record::Observation(Box::new(observation_of(name, id, facts)))
}

pub(crate) fn intent(id: u64, name: &str, effect: &str) -> Intent {
    let key = key(name);
    let source_id = SourceId::new("acme", &key, 0);
    let fields = json!({
        "id": IntentId::new(id), "effect": effect, "key": key, "merchant": merchant(),
        "mode": Mode::Test, "target": null, "mark": source_id.mark(), "source_id": source_id,
        "request": {"endpoint": "", "method": "POST", "host": "base", "path": "/v1/cards", "auth": "secret_key", "body": "none"},
        "expect": BTreeMap::from([("amount", 2000)]), "baseline": null, "on_doubt": "hold",
        "applied": {"spec": {}, "digest": sha256(b""), "generation": 0, "deletion": "orphan"},
        "cause": {"file": null, "line": null, "commit": null}, "at": NOW,
    });
    serde_json::from_value(fields).unwrap()
}

pub(crate) fn open_intent(id: u64, name: &str, effect: &str) -> Record {
    Record::Intent(Box::new(intent(id, name, effect)))
}

pub(crate) fn progress(id: u64, progress: IntentProgress) -> Record {
    Record::Progress { intent: IntentId::new(id), at: now(), progress }
}

pub(crate) fn doubt(id: u64) -> Record {
    progress(id, IntentProgress::Doubt { reason: "no answer".to_owned(), unsent: false })
}

pub(crate) fn suspension(name: &str, until: Option<&str>) -> Suspension {
    Suspension {
        key: key(name),
        reason: "audit".to_owned(),
        actor: "ann".to_owned(),
        until: until.map(|until| until.parse().unwrap()),
        at: now(),
    }
}

pub(crate) fn suspension_record(name: &str, until: Option<&str>) -> Record {
    Record::Suspended(Box::new(suspension(name, until)))
}

/// Returns the record that a merchant's list of events was read to its end.
pub(crate) fn poll_record(at: DateTime<Utc>) -> Record {
    Record::Polled(Box::new(Polled { merchant: merchant(), to: at, whole: true, at }))
}

pub(crate) fn action_request(name: &str, verb: &str, fields: Value) -> ActionRequest {
    ActionRequest {
        name: name.parse().unwrap(),
        verb: verb.to_owned(),
        merchant: None,
        fields,
        at: None,
        at_most: None,
        content: None,
    }
}

pub(crate) fn script_identity(script: &str) -> ScriptIdentity {
    ScriptIdentity { script: script.to_owned(), text: sha256(script.as_bytes()) }
}

/// Returns the record of a script's run for the event `eN` with these requests.
pub(crate) fn hook_run(number: u64, script: &str, requests: Vec<ActionRequest>) -> HookRunRecord {
    let run = HookRun {
        script: script.to_owned(),
        function: "on_event".to_owned(),
        hash: sha256(b"text"),
        requests,
        kept: Vec::new(),
        added: Vec::new(),
        reads: Vec::new(),
        log: Vec::new(),
        operations: 1,
        sealed: None,
        answers: Vec::new(),
    };
    HookRunRecord {
        merchant: merchant(),
        event: format!("e{number}"),
        number,
        is_retry: false,
        script_identity: Some(script_identity(script)),
        former_script: None,
        runs: vec![run],
        failures: Vec::new(),
        depth: 0,
        at: now(),
    }
}

/// Returns the record of a failed run for the event `eN`; without a time of retry it failed for
/// good.
pub(crate) fn failed_run(number: u64, script: &str, retry_at: Option<DateTime<Utc>>) -> Record {
    let failure = HookFailure {
        script: script.to_owned(),
        function: "on_event".to_owned(),
        message: "no such field".to_owned(),
        tries: 5,
        retry_at,
        text: None,
        log: Vec::new(),
    };
    let run = hook_run(number, script, Vec::new());
    Record::HooksRun(Box::new(HookRunRecord { runs: Vec::new(), failures: vec![failure], ..run }))
}

/// Returns an exposure of dollars.
pub(crate) fn dollars(minor: i64, meaning: &'static str) -> Exposure {
    let amount = Money::new(minor, Currency::USD);
    let moved = MoneyMove { amount, mode: Mode::Test, meaning };
    Exposure::new(&[moved], ExposureCounts::default())
}

pub(crate) fn spend(name: &str, minor: i64) -> SpendRequest {
    SpendRequest {
        key: key(name),
        merchant: merchant(),
        mode: Mode::Test,
        generation: 0,
        amountless_digest: Some(sha256(b"")),
        exposure: dollars(minor, "charged"),
    }
}

pub(crate) fn approval(id: &str, actor: &str, steps: Vec<SpendRequest>) -> PlanApproval {
    PlanApproval {
        id: id.to_owned(),
        checksum: format!("{id}-0123456789abcdef"),
        ceilings: Vec::new(),
        steps,
        actor: actor.to_owned(),
        at: now(),
        signed: None,
    }
}

/// Returns the record of an unknown object with a mark of ours that blocks a resource.
pub(crate) fn unknown_object(name: &str, id: &str, object: Option<UnknownObject>) -> Record {
    let object = object.unwrap_or_else(|| UnknownObject {
        id: id.parse().unwrap(),
        mark: SourceId::new("acme", &key(name), 7).mark(),
        list: "cards".to_owned(),
        is_duplicate: false,
        collection: None,
    });
    Record::UnknownObjects(Box::new(UnknownObjectsFound {
        key: key(name),
        merchant: merchant(),
        found: vec![object],
        at: now(),
    }))
}

pub(crate) fn restore_record(epoch: u32) -> Record {
    Record::Restored(Box::new(Restored {
        epoch,
        backup_sequence: 0,
        backup_head: sha256(b"head"),
        backup_at: now(),
        at: now(),
        actor: "ann".to_owned(),
        put_back: false,
    }))
}
