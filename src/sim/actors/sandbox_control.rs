//! Sandbox of a run, with its control paths: they issue codes, and show the objects that the
//! checkers read.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use chrono::{DateTime, Utc};
use http::Request;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;

use super::applicant::EVENT_URL;
use super::payer::Payers;
use super::{applicant, merchant_commands};
use crate::base::clock::SharedClock;
use crate::base::id::RemoteId;
use crate::base::secret::Secret;
use crate::engine::core::handles::PartnerAccess;
use crate::sandbox::options::{DecisionMode, SandboxOptions};
use crate::sandbox::server::Sandbox;
use crate::sandbox::state::webhook_delivery::OutgoingWebhook;
use crate::sim::net::event_posts::GATEWAY_URL;
use crate::sim::world::documents::{DocBody as Said, DocTree, variable};
use crate::sim::world::script::SimScript;
use crate::sim::world::unmarked_charges;
use crate::sim::world::unmarked_charges::Charges;
use crate::store::index::ordered::MemoryIndex;

/// All objects that the service holds.
#[derive(Debug, Clone, Default)]
pub struct Objects {
    pub contacts: Vec<Value>,
    pub invoices: Vec<Value>,
    /// Saved cards and bank accounts that were not deleted.
    pub methods: Vec<Value>,
    pub recurring: Vec<Value>,
    /// Applications for merchants.
    pub applications: Vec<Value>,
    pub mails: Vec<Value>,
    /// Transactions of every type.
    pub transactions: Vec<Value>,
    /// Movements of money since the run began.
    pub ledger: Vec<Value>,
    /// Occurrences of recurring charges.
    pub occurrences: Vec<Value>,
    /// Ids of the recurring charges that a merchant made at its own till, and those that remain.
    pub till_charges: (Vec<String>, Vec<Value>),
}

impl Objects {
    /// Returns true if the object of this id contains one of these names.
    pub(crate) fn has_name(&self, id: &RemoteId, names: &[&str]) -> bool {
        let all = [
            &self.invoices,
            &self.methods,
            &self.recurring,
            &self.applications,
            &self.transactions,
        ];
        let is_it = |one: &&Value| one.get("id").and_then(Value::as_str) == Some(id.as_str());
        let text = all.into_iter().flatten().find(is_it).map(Value::to_string);
        text.is_some_and(|text| names.iter().any(|name| text.contains(*name)))
    }
}

/// Client of the sandbox's control paths; clones share the sandbox.
#[derive(Clone)]
pub(crate) struct SandboxControl {
    sandbox: Option<Sandbox>,
    router: Option<Router>,
    merchants: Vec<String>,
    clock: SharedClock,
    earlier_charges: Charges,
    /// Recurring charges that a merchant made at its own till.
    pub(crate) till: Vec<String>,
    /// Payers who pay without the engine.
    pub(crate) payers: Payers,
}

impl SandboxControl {
    /// Opens the sandbox of a script.
    pub(crate) async fn open(script: &SimScript, clock: SharedClock) -> Self {
        let decide = if script.net.delayed_decision.is_some() {
            DecisionMode::Manual
        } else {
            DecisionMode::Auto
        };
        let (seed, surface) = (script.seed, script.surface);
        let options = SandboxOptions {
            seed,
            surface,
            clock: clock.clone(),
            decide,
            ..SandboxOptions::default()
        };
        let sandbox = Sandbox::open(Arc::new(MemoryIndex::new()), options);
        let merchants = script.files.values().filter(|doc| doc.body == Said::Merchant);
        let sandbox = sandbox.ok();
        let mut desk = Self {
            earlier_charges: Charges::new(),
            till: Vec::new(),
            payers: Payers::default(),
            router: sandbox.as_ref().map(Sandbox::router),
            sandbox,
            merchants: merchants.map(|doc| doc.name.clone()).collect(),
            clock,
        };
        let word = if script.refuses_duplicates { "refuse" } else { "same" };
        desk.post_control("settings", &json!({"duplicate_source_id": word})).await;
        desk.post_control("partner", &json!({"event_url": EVENT_URL})).await;
        for merchant in &desk.merchants {
            let word = json!({"merchant": merchant, "credits_enabled": true});
            desk.post_control("policy", &word).await;
            if script.net.gateway.is_some() {
                let urls = json!({"test": format!("{GATEWAY_URL}{merchant}"), "live": ""});
                desk.post_control("policy", &json!({"merchant": merchant, "events_urls": urls}))
                    .await;
            }
        }
        desk.earlier_charges = unmarked_charges::charge_payers(&desk, script).await;
        desk.till = merchant_commands::make_charges(&desk, script).await;
        desk
    }

    /// Returns the service itself. If the sandbox did not open, the router answers no request.
    pub(crate) fn router(&self) -> Router {
        self.router.clone().unwrap_or_default()
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
        let mut codes = applicant::applicant_secrets();
        for name in &self.merchants {
            let issued = self.post_control("credentials", &json!({"merchant": name})).await;
            codes.insert(variable(name), text(&issued, "authorization_code").to_owned());
        }
        codes
    }

    /// Returns every application.
    pub(crate) async fn applications(&self) -> Vec<Value> {
        self.all("applications").await
    }

    /// Returns every event of the merchants, oldest first.
    pub(crate) async fn events(&self) -> Vec<Value> {
        self.all("events").await
    }

    /// Returns the merchants that are connected by codes.
    pub(crate) fn merchants(&self) -> &[String] {
        &self.merchants
    }

    /// Returns the seconds since the time in a field of an object; 0 if the field holds no time.
    pub(crate) fn age_s(&self, object: &Value, field: &str) -> u64 {
        let time: Option<DateTime<Utc>> = text(object, field).parse().ok();
        let age = time.map(|time| self.clock.now().signed_duration_since(time).num_seconds());
        age.and_then(|age| u64::try_from(age).ok()).unwrap_or(0)
    }

    /// Lets underwriting decide on an application.
    pub(crate) async fn decide(&self, application: &str, decision: &Value) {
        self.post_control(&format!("applications/{application}/decision"), decision).await;
    }

    /// Returns the partner's own credentials.
    pub(crate) async fn partner(&self) -> PartnerAccess {
        let all = self.get_control("credentials").await;
        let partner = all.get("partner").cloned().unwrap_or_default();
        PartnerAccess {
            client_id: Secret::from(text(&partner, "client_id").to_owned()),
            client_secret: Secret::from(text(&partner, "client_secret").to_owned()),
            redirect_uri: text(&partner, "redirect_uri").to_owned(),
        }
    }

    /// Returns all objects that the service holds now.
    pub(crate) async fn objects(&self) -> Objects {
        let own = |one: &Value| self.till.iter().any(|id| id == text(one, "id"));
        let (till, recurring) =
            self.without_payers("recurring_charges").await.into_iter().partition(own);
        Objects {
            contacts: self.all("contacts").await,
            invoices: self.all("invoices").await,
            methods: [self.without_payers("cards").await, self.all("banks").await].concat(),
            recurring,
            till_charges: (self.till.clone(), till),
            applications: self.all("applications").await,
            occurrences: self.all("occurrences").await,
            transactions: self.all("transactions").await,
            mails: list(&self.get_control("mailbox").await, "messages"),
            ledger: self.ledger().await,
        }
    }

    /// Returns all objects after two more months, in which the service collects due payments.
    pub(crate) async fn two_months_later(&self) -> Objects {
        self.post_control("clock", &json!({"advance": "P60D"})).await;
        self.objects().await
    }

    /// Returns the objects of a kind that do not belong to the payers.
    async fn without_payers(&self, kind: &str) -> Vec<Value> {
        let all = self.all(kind).await.into_iter();
        all.filter(|one| !self.payers.owns(one)).collect()
    }

    /// Returns the movements of money since the run began, except those of the payers.
    async fn ledger(&self) -> Vec<Value> {
        let all = list(&self.get_control("ledger").await, "entries");
        let occurrences = self.all("occurrences").await;
        let theirs = |entry: &Value| {
            let id = text(entry, "recurring_charge_occurrence_id");
            let of = occurrences.iter().find(|one| !id.is_empty() && text(one, "id") == id);
            self.payers.owns(entry) || of.is_some_and(|one| self.payers.owns(one))
        };
        let all = all.into_iter().filter(|entry| !theirs(entry)).collect();
        unmarked_charges::without_earlier(all, &self.earlier_charges)
    }

    async fn all(&self, kind: &str) -> Vec<Value> {
        let bytes = self.call("GET", &format!("objects/{kind}"), Vec::new()).await;
        let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines.filter_map(|line| serde_json::from_slice(line).ok()).collect()
    }

    /// Writes the ids of charges into the documents that name them.
    pub(crate) fn fill_charge_ids(&self, tree: &mut DocTree) {
        unmarked_charges::fill_charge_ids(tree, &self.earlier_charges);
    }

    pub(crate) async fn get_control(&self, path: &str) -> Value {
        serde_json::from_slice(&self.call("GET", path, Vec::new()).await).unwrap_or_default()
    }

    pub(crate) async fn post_control(&self, path: &str, body: &Value) -> Value {
        let body = body.to_string().into_bytes();
        serde_json::from_slice(&self.call("POST", path, body).await).unwrap_or_default()
    }

    async fn call(&self, method: &str, path: &str, body: Vec<u8>) -> Vec<u8> {
        self.send((method, &format!("/_sandbox/{path}")), "", body).await
    }

    /// Sends a request of a third party to the service itself.
    pub(crate) async fn post_service(
        &self,
        path: &str,
        authorization: &str,
        body: &Value,
    ) -> Value {
        let body = body.to_string().into_bytes();
        let answer = self.send(("POST", path), authorization, body).await;
        serde_json::from_slice(&answer).unwrap_or_default()
    }

    async fn send(
        &self,
        (method, path): (&str, &str),
        authorization: &str,
        body: Vec<u8>,
    ) -> Vec<u8> {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", "127.0.0.1:8700")
            .header("authorization", authorization)
            .header("content-type", "application/json")
            .body(Body::from(body));
        let Ok(request) = request else {
            return Vec::new();
        };
        let answer = match self.router().oneshot(request).await {
            Ok(answer) => answer,
            Err(never) => match never {},
        };
        let body = answer.into_body().collect().await;
        body.map(|body| body.to_bytes().to_vec()).unwrap_or_default()
    }
}

/// Returns a text field; empty if it is missing.
pub(crate) fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    object.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// Returns a list field; empty if it is missing.
fn list(object: &Value, field: &str) -> Vec<Value> {
    object.get(field).and_then(Value::as_array).cloned().unwrap_or_default()
}
