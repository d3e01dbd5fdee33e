//! Sandbox of a run: it issues codes, and shows the objects that the checkers read.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::control::{self, ControlClient, EVENT_URL, GATEWAY_URL, Payers, find, list, text};
use crate::base::clock::SharedClock;
use crate::base::id::RemoteId;
use crate::base::secret::Secret;
use crate::engine::handles::shared::PartnerAccess;
use crate::sandbox::options::{DecisionMode, SandboxOptions};
use crate::sandbox::server::Sandbox;
use crate::sandbox::state::store::in_memory;
use crate::sandbox::webhooks::OutgoingWebhook;
use crate::sim::plan::documents::{DocBody, applicant_secrets, variable};
use crate::sim::plan::script::SimScript;

#[derive(Debug, Clone, Default)]
pub struct Objects {
    pub contacts: Vec<Value>,
    pub invoices: Vec<Value>,
    /// Saved cards and bank accounts that were not deleted.
    pub methods: Vec<Value>,
    pub recurring: Vec<Value>,
    pub applications: Vec<Value>,
    pub mails: Vec<Value>,
    pub transactions: Vec<Value>,
    /// Movements of money since the run began.
    pub ledger: Vec<Value>,
    pub occurrences: Vec<Value>,
    /// Ids of the recurring charges that a merchant made at its own till, and those that remain.
    pub till_charges: (Vec<String>, Vec<Value>),
}

impl Objects {
    pub(crate) fn has_name(&self, id: &RemoteId, names: &[&str]) -> bool {
        let Self { invoices, methods, recurring, applications, transactions, .. } = self;
        let mut all = [invoices, methods, recurring, applications, transactions].into_iter();
        let text = all.find_map(|list| find(list, "id", id.as_str())).map(Value::to_string);
        text.is_some_and(|text| names.iter().any(|name| text.contains(*name)))
    }
}

/// The sandbox of a run, and the third parties at it; clones share them.
#[derive(Clone)]
pub(crate) struct SandboxControl {
    sandbox: Option<Sandbox>,
    /// Control paths of the sandbox, and its service.
    pub(crate) control: ControlClient,
    /// Merchants that are connected by codes.
    pub(crate) merchants: Vec<String>,
    clock: SharedClock,
    pub(crate) earlier_charges: Vec<String>,
    /// Recurring charges that a merchant made at its own till.
    pub(crate) till: Vec<String>,
    pub(crate) payers: Payers,
}

impl SandboxControl {
    pub(crate) async fn open(script: &SimScript, clock: SharedClock) -> Self {
        let manual = script.net.delayed_decision.is_some();
        let options = SandboxOptions {
            seed: script.seed,
            surface: script.surface,
            clock: clock.clone(),
            decide: if manual { DecisionMode::Manual } else { DecisionMode::Auto },
            ..SandboxOptions::default()
        };
        let sandbox = Sandbox::open(in_memory(), options).ok();
        let merchants = script.files.values().filter(|doc| doc.body == DocBody::Merchant);
        let mut desk = Self {
            earlier_charges: Vec::new(),
            till: Vec::new(),
            payers: Payers::default(),
            control: ControlClient {
                router: sandbox.as_ref().map(Sandbox::router).unwrap_or_default(),
            },
            sandbox,
            merchants: merchants.map(|doc| doc.name.clone()).collect(),
            clock,
        };
        let word = if script.refuses_duplicates { "refuse" } else { "same" };
        desk.control.post_control("settings", &json!({"duplicate_source_id": word})).await;
        desk.control.post_control("partner", &json!({"event_url": EVENT_URL})).await;
        for merchant in &desk.merchants {
            let word = json!({"merchant": merchant, "credits_enabled": true});
            desk.control.post_control("policy", &word).await;
            if script.net.gateway.is_some() {
                let urls = json!({"test": format!("{GATEWAY_URL}{merchant}"), "live": ""});
                let policy = json!({"merchant": merchant, "events_urls": urls});
                desk.control.post_control("policy", &policy).await;
            }
        }
        desk.earlier_charges = control::charge_payers(&desk.control, script).await;
        desk.till = control::make_till_charges(&desk.control, script).await;
        desk
    }

    /// Lets the service attempt every webhook that is due.
    pub(crate) async fn deliver<F, Sent>(&self, post: F)
    where
        F: Fn(OutgoingWebhook) -> Sent,
        Sent: Future<Output = Option<u16>>,
    {
        if let Some(sandbox) = &self.sandbox {
            // The sandbox of a simulation is in memory, so it cannot fail.
            sandbox.deliver_due(post).await.unwrap_or_default();
        }
    }

    /// Issues a fresh code for each merchant. Returns the codes and the applicants' secrets, by the
    /// variables of the documents.
    pub(crate) async fn issue_codes(&self) -> BTreeMap<String, String> {
        let mut codes = applicant_secrets();
        for name in &self.merchants {
            let issued = self.control.post_control("credentials", &json!({"merchant": name})).await;
            codes.insert(variable(name), text(&issued, "authorization_code").to_owned());
        }
        codes
    }

    /// Returns the seconds since the time in a field of an object; 0 if the field holds no time.
    pub(crate) fn age_s(&self, object: &Value, field: &str) -> u64 {
        let time: Option<DateTime<Utc>> = text(object, field).parse().ok();
        let age = time.map(|time| self.clock.now().signed_duration_since(time).num_seconds());
        age.and_then(|age| u64::try_from(age).ok()).unwrap_or(0)
    }

    pub(crate) async fn partner(&self) -> PartnerAccess {
        let all = self.control.get_control("credentials").await;
        let partner = all.get("partner").cloned().unwrap_or_default();
        PartnerAccess {
            client_id: Secret::from(text(&partner, "client_id").to_owned()),
            client_secret: Secret::from(text(&partner, "client_secret").to_owned()),
            redirect_uri: text(&partner, "redirect_uri").to_owned(),
        }
    }

    pub(crate) async fn objects(&self) -> Objects {
        let own = |one: &Value| self.till.iter().any(|id| id == text(one, "id"));
        let (till, recurring) =
            self.without_payers("recurring_charges").await.into_iter().partition(own);
        Objects {
            contacts: self.control.all("contacts").await,
            invoices: self.control.all("invoices").await,
            methods: [self.without_payers("cards").await, self.control.all("banks").await].concat(),
            recurring,
            till_charges: (self.till.clone(), till),
            applications: self.control.all("applications").await,
            occurrences: self.control.all("occurrences").await,
            transactions: self.control.all("transactions").await,
            mails: list(&self.control.get_control("mailbox").await, "messages"),
            ledger: self.ledger().await,
        }
    }

    async fn without_payers(&self, kind: &str) -> Vec<Value> {
        let all = self.control.all(kind).await.into_iter();
        all.filter(|one| !self.payers.owns(one)).collect()
    }

    /// Returns the movements of money since the run began, except those of the payers.
    async fn ledger(&self) -> Vec<Value> {
        let mut all = list(&self.control.get_control("ledger").await, "entries");
        let occurrences = self.control.all("occurrences").await;
        let theirs = |entry: &Value| {
            let id = text(entry, "recurring_charge_occurrence_id");
            let of = find(&occurrences, "id", id).filter(|_| !id.is_empty());
            self.payers.owns(entry) || of.is_some_and(|one| self.payers.owns(one))
        };
        let earlier = |id: &str| self.earlier_charges.iter().any(|charge| charge == id);
        all.retain(|entry| !theirs(entry) && !earlier(text(entry, "transaction_id")));
        all
    }
}
