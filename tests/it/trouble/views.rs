//! Every view of a resource against the journal, for each kind in each state of an intent. The views are those of a
//! running engine and of a restarted one.
//!
//! The test appends records as a task would, while the engine runs. The documents are suspended, so that nothing else
//! happens. The compared views are `get`, `describe`, `intents`, status, metrics, the API over HTTP, and the history
//! that `why` prints.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::ConnectInfo;
use http::Request;
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};
use tower::ServiceExt;

use super::world::World;
use chrono::DateTime;
use reckon::api::call::{Auth, Host, Method};
use reckon::base::hash::{SourceId, sha256};
use reckon::base::id::{IntentId, Key, Mode};
use reckon::control::handle::Control;
use reckon::engine::core::coordinator::{Engine, RunUntil};
use reckon::engine::handles::shared::EngineShared;
use reckon::engine::protocol::diagnostics::{StateReply, WhySubject};
use reckon::engine::protocol::input::EngineInput;
use reckon::engine::protocol::intents::IntentsView;
use reckon::engine::protocol::query::{EngineQuery, Reply};
use reckon::engine::protocol::resources::ResourceList;
use reckon::engine::protocol::views::ResourceView;
use reckon::http::private::auth::Tokens;
use reckon::http::private::router::router;
use reckon::model::effect::Exposure;
use reckon::model::intent::{
    Cause, EffectProof, Intent, IntentProgress, StoredBody, StoredRequest,
};
use reckon::model::manifest::{Deletion, OnDoubt};
use reckon::model::outcome::ServiceProblem;
use reckon::model::record::Record;
use reckon::model::state::observed::{AppliedSpec, FactSource, Observation};
use reckon::render;
use reckon::render::words::Screen;
use reckon::sandbox::options::ServiceSurface;
use reckon::store::disk::traits::MemoryDisk;
use reckon::store::journal::read::JournalReader;
use reckon::store::journal::read::JournalSet;
use reckon::store::writer::core::Commit;

/// One suspended document of each kind.
const TREE: &str = "apiVersion: reckon.dev/v1
kind: Merchant
metadata: {name: acme, annotations: {reckon.dev/suspend: 'true'}}
spec: {mode: test, timezone: America/Chicago, credentials: {authorization_code: {env: CODE_ACME}}}
---
apiVersion: reckon.dev/v1
kind: MerchantApplication
metadata: {name: club, annotations: {reckon.dev/suspend: 'true'}}
spec: {submission: sign_up, email: club@example.com}
---
apiVersion: reckon.dev/v1
kind: Contact
metadata: {name: jane, annotations: {reckon.dev/suspend: 'true'}}
spec: {merchant: acme, first_name: Jane, last_name: Doe, email_addresses: [{address: jane@example.com}]}
---
apiVersion: reckon.dev/v1
kind: Invoice
metadata: {name: first, annotations: {reckon.dev/suspend: 'true'}}
spec:
  merchant: acme
  contact: jane
  bank_account: Operating
  invoice_date: 2029-12-24
  line_items: [{description: Retainer, rate_per_quantity: '10.00 USD'}]
---
apiVersion: reckon.dev/v1
kind: SavedMethod
metadata: {name: card, annotations: {reckon.dev/suspend: 'true'}}
spec:
  merchant: acme
  type: card
  source: {card: {number: '4242424242424242', exp_month: 12, exp_year: 2031, name: Jane Doe}}
---
apiVersion: reckon.dev/v1
kind: RecurringCharge
metadata: {name: monthly, annotations: {reckon.dev/suspend: 'true'}}
spec:
  merchant: acme
  method: card
  amount: '10.00 USD'
  description: Monthly
  schedule: {start: 2030-01-15, interval_unit: MONTH, interval_delay: 1}
";

/// Each kind's document and a resource without a document, with an effect of each.
const RESOURCES: [(&str, &str); 7] = [
    ("Merchant/acme", "code.exchange"),
    ("MerchantApplication/club", "application.sign_up"),
    ("Contact/jane", "contact.create"),
    ("Invoice/first", "invoice.create"),
    ("SavedMethod/card", "card.save"),
    ("RecurringCharge/monthly", "recurring.create"),
    ("Invoice/gone-from-the-files", "invoice.create"),
];

/// Returns the life of an intent, from its record (none) to the last doubt.
fn life() -> Vec<Option<IntentProgress>> {
    let doubt = |reason: &str, unsent| IntentProgress::Doubt { reason: reason.to_owned(), unsent };
    let held =
        IntentProgress::OnHold { reason: "somebody has to look".to_owned(), observation: None };
    vec![
        None,
        Some(doubt("the connection was reset", false)),
        Some(IntentProgress::Resent),
        Some(doubt("it did not arrive", true)),
        Some(held),
        Some(doubt("somebody asked to settle it", false)),
    ]
}

/// Returns every way in which an intent ends.
fn ends(intent: &Intent) -> [IntentProgress; 4] {
    let observation = Observation {
        key: intent.key.clone(),
        merchant: intent.merchant.clone(),
        at: intent.at,
        source: FactSource::Answer,
        remote_id: None,
        exists: Some(true),
        applied: Some(intent.applied.clone()),
        facts: json!({}),
    };
    let problem = ServiceProblem::from_code("invalid_data", "no");
    [
        IntentProgress::NotSent { reason: "nothing arrived".to_owned() },
        IntentProgress::Refused { status: 422, problem },
        IntentProgress::GivenUp { reason: "nothing can prove it".to_owned() },
        IntentProgress::Done { observation: Box::new(observation), proof: EffectProof::Found },
    ]
}

fn intent(id: u64, key: &Key, effect: &str) -> Intent {
    let source_id = SourceId::new("acme", key, 0);
    let request = StoredRequest {
        endpoint: String::new(),
        method: Method::Post,
        host: Host::Base,
        path: "/".to_owned(),
        auth: Auth::SecretKey,
        account: None,
        web_url: None,
        body: StoredBody::None,
    };
    Intent {
        id: IntentId::new(id),
        effect: effect.to_owned(),
        key: key.clone(),
        merchant: "Merchant/acme".parse().unwrap(),
        mode: Mode::Test,
        target: None,
        mark: source_id.mark(),
        source_id,
        request,
        expect: BTreeMap::new(),
        applied: AppliedSpec {
            spec: json!({}),
            digest: sha256(b"other"),
            generation: 0,
            deletion: Deletion::Orphan,
        },
        baseline: Value::Null,
        subject: Value::Null,
        on_doubt: OnDoubt::Hold,
        cause: Cause::default(),
        at: "2029-12-01T10:00:00Z".parse().unwrap(),
        exposure: Exposure::default(),
    }
}

/// Content of the views of one resource and its intent.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    /// State of the intent, and the number of its sends; `None` once it is settled.
    intent: Option<(String, u32)>,
    /// Number of unsettled intents, by state.
    states: BTreeMap<String, u64>,
    /// Reason of `Synced`, if an intent causes it.
    reason: Option<String>,
}

/// Computes the expected content from the journal's records alone.
fn by_the_journal(records: &[(IntentId, Option<IntentProgress>)], id: IntentId) -> Seen {
    let mut state: Option<(String, u32)> = None;
    for (_, progress) in records.iter().filter(|(of, _)| *of == id) {
        let sent = state.as_ref().map_or(1, |(_, sent)| *sent);
        state = match progress {
            None => Some(("open".to_owned(), 1)),
            Some(IntentProgress::Resent) => Some(("open".to_owned(), sent + 1)),
            Some(IntentProgress::Doubt { unsent, .. }) => {
                Some(("in_doubt".to_owned(), sent - u32::from(*unsent)))
            }
            Some(IntentProgress::OnHold { .. }) => Some(("held".to_owned(), sent)),
            Some(_) => None,
        };
    }
    let mut states: BTreeMap<String, u64> =
        ["open", "in_doubt", "held"].map(|state| (state.to_owned(), 0)).into();
    if let Some((state, _)) = &state {
        *states.get_mut(state).unwrap() += 1;
    }
    let reason = state.as_ref().map(|(state, _)| match state.as_str() {
        "open" => "InFlight".to_owned(),
        "in_doubt" => "InDoubt".to_owned(),
        _ => "Held".to_owned(),
    });
    Seen { intent: state, states, reason }
}

/// Returns the reason, if an intent causes it.
fn of_intents(reason: &str) -> Option<String> {
    ["InFlight", "InDoubt", "Held"].contains(&reason).then(|| reason.to_owned())
}

fn of_items(items: &Value, key: &Key) -> Option<(String, u32)> {
    let items = items["items"].as_array().unwrap();
    let item = items.iter().find(|item| item["key"] == json!(key))?;
    let attempts = u32::try_from(item["attempts"].as_u64().unwrap()).unwrap();
    Some((item["state"].as_str().unwrap().to_owned(), attempts))
}

/// Returns the values of one metric, by its label.
fn of_metrics(text: &str) -> BTreeMap<String, u64> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("reckon_intents{state=\""));
    let parts = lines.filter_map(|line| line.split_once("\"} "));
    parts.map(|(state, count)| (state.to_owned(), count.parse().unwrap())).collect()
}

/// Views by name, with their content. Parts that a view does not show are taken from the journal.
type Views = Vec<(&'static str, Seen)>;

fn of_resource(item: Option<&ResourceView>, truth: &Seen) -> Seen {
    let reason = item.and_then(|item| of_intents(&item.reason));
    if let Some(item) = item {
        let list = ResourceList {
            items: vec![item.clone()],
            total: 1,
            hold: None,
            rules: Vec::new(),
            at: DateTime::UNIX_EPOCH,
        };
        let table = render::resource::resource_list::table(&list, Screen::PLAIN, false);
        assert!(table.contains(&item.reason), "the table shows the reason: {table}");
        assert!(
            reason.is_none() || !item.ready,
            "an unsettled intent makes the resource not ready: {item:?}"
        );
        let described = render::resource::describe::describe(item, None, Screen::PLAIN);
        assert!(
            described.contains(&item.reason),
            "`describe` shows the reason of `get`: {described}"
        );
        let conditions: Vec<&str> = item.conditions.iter().map(|one| one.kind.word()).collect();
        assert_eq!(conditions, ["Synced", "Healthy", "Suspended", "NeedsAttention"]);
        assert_eq!(
            of_intents(&item.conditions[0].reason),
            reason,
            "`Synced` has the reason of `get`"
        );
        assert!(reason.is_none() || item.conditions[0].since.is_some(), "{item:?}");
    }
    Seen { reason, intent: truth.intent.clone(), states: truth.states.clone() }
}

fn of_list(intents: &IntentsView, key: &Key, truth: &Seen) -> Seen {
    let intent = of_items(&serde_json::to_value(intents).unwrap(), key);
    let told = render::intents::text(intents, Screen::PLAIN);
    assert!(intent.is_none() || told.contains(&key.short()), "{told}");
    assert!(intent.is_none() || !told.contains("Every intent is settled"), "{told}");
    Seen { intent, states: truth.states.clone(), reason: truth.reason.clone() }
}

/// Returns the views of an engine, through this way to query it.
async fn of_engine(
    key: &Key,
    truth: &Seen,
    ask: impl AsyncFn(EngineQuery) -> Reply,
) -> (Views, usize) {
    let Reply::Intents(intents) = ask(EngineQuery::Intents).await else { panic!() };
    let Reply::Overview(overview) = ask(EngineQuery::Overview).await else { panic!() };
    let Reply::Metrics(metrics) = ask(EngineQuery::Metrics).await else { panic!() };
    let Reply::Resources(list) = ask(EngineQuery::Resources(Box::default())).await else {
        panic!()
    };
    let Reply::Resource(one) = ask(EngineQuery::Resource(key.clone())).await else { panic!() };
    let wanted = EngineQuery::JournalRefs(WhySubject::Resource(key.clone()));
    let Reply::State(StateReply::Trail(sought)) = ask(wanted).await else { panic!() };
    let item = list.items.iter().find(|item| item.is_of(key));
    let open = u64::try_from(overview.open_intents).unwrap();
    assert_eq!(open, truth.states.values().sum::<u64>(), "status");
    let states = of_metrics(&render::metrics::metrics(&metrics));
    let (intent, reason) = (truth.intent.clone(), truth.reason.clone());
    let views = vec![
        ("intents", of_list(&intents, key, truth)),
        ("metrics", Seen { intent, states, reason }),
        ("get", of_resource(item, truth)),
        ("describe", of_resource(one.as_deref(), truth)),
    ];
    (views, sought.resources.first().map_or(0, |trail| trail.sequences.len()))
}

/// Returns the views of the daemon's own paths.
async fn of_http(router: &Router, key: &Key, truth: &Seen) -> Views {
    let overview = get(router, "/api/v1/status").await;
    let open = truth.states.values().sum::<u64>();
    assert_eq!(overview["open_intents"].as_u64(), Some(open), "/api/v1/status");
    let settling = get(router, "/api/v1/intents").await;
    let resources = get(router, "/api/v1/resources").await;
    let items: Vec<ResourceView> = serde_json::from_value(resources["items"].clone()).unwrap();
    let listed = items.iter().find(|one| one.is_of(key));
    let path = format!("/api/v1/resources/{key}");
    let one: Option<ResourceView> = serde_json::from_value(get(router, &path).await).ok();
    let Value::String(metrics) = get(router, "/metrics").await else { panic!() };
    let (reason, states) = (truth.reason.clone(), truth.states.clone());
    let intent = of_items(&settling, key);
    vec![
        ("/api/v1/intents", Seen { intent, states, reason: reason.clone() }),
        ("/metrics", Seen { intent: truth.intent.clone(), states: of_metrics(&metrics), reason }),
        ("/api/v1/resources", of_resource(listed, truth)),
        ("/api/v1/resources/KEY", of_resource(one.as_ref(), truth)),
    ]
}

/// Returns the response of a path, as a text if it is no JSON.
async fn get(router: &Router, path: &str) -> Value {
    let mut request =
        Request::get(path).header("host", "localhost:8780").body(Body::empty()).unwrap();
    let peer: SocketAddr = "127.0.0.1:4000".parse().unwrap();
    request.extensions_mut().insert(ConnectInfo(peer));
    let response = router.clone().oneshot(request).await.unwrap();
    let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
    let text = String::from_utf8(body.to_vec()).unwrap();
    serde_json::from_str(&text).unwrap_or(Value::String(text))
}

/// Returns the number of progress records of the newest intent, from the resource's history.
fn of_why(journal: &MemoryDisk, key: &Key, sequences: &[u64]) -> usize {
    let books =
        JournalSet { journal: JournalReader::over(Arc::new(journal.clone())), archive: None };
    let story = books.history(key, sequences).unwrap();
    story.effects.last().map_or(0, |effect| effect.progress.len())
}

/// A running engine, the ways to query it, and the records that were appended so far.
struct Stage<'a> {
    world: &'a World,
    shared: Arc<EngineShared>,
    control: Control,
    router: Router,
    records: Vec<(IntentId, Option<IntentProgress>)>,
    differences: Vec<String>,
    compared: usize,
}

impl Stage<'_> {
    /// Appends the record that a task would append, and compares all views with the journal.
    async fn step(&mut self, intent: &Intent, progress: Option<IntentProgress>) {
        let record = match &progress {
            None => Record::Intent(Box::new(intent.clone())),
            Some(progress) => {
                let (intent, progress) = (intent.id, progress.clone());
                Record::Progress { intent, at: "2029-12-01T10:00:00Z".parse().unwrap(), progress }
            }
        };
        self.shared.writer.append(Commit::of(vec![record])).await.unwrap();
        self.records.push((intent.id, progress));
        let truth = by_the_journal(&self.records, intent.id);
        let key = &intent.key;
        let ask = async |question| self.control.ask(question).await.unwrap();
        let (mut views, told) = of_engine(key, &truth, ask).await;
        views.extend(of_http(&self.router, key, &truth).await);
        // A restarted engine reads the same state. It is queried before it does anything.
        let again = self.world.engine_again();
        let ask = async |question| again.answer(question).unwrap();
        let (restarted, told_again) = of_engine(key, &truth, ask).await;
        assert_eq!(told, told_again, "why");
        views.extend(restarted);
        let moved = self.records.iter().filter(|(of, _)| *of == intent.id).count() - 1;
        let sequences = self.shared.facts.record_sequences(key).unwrap();
        assert_eq!(of_why(&self.world.journal, key, &sequences), moved, "why");
        for (view, seen) in views {
            self.compared += 1;
            if seen != truth {
                let text = format!("{view} of {key}: {seen:?}, and the journal has {truth:?}");
                self.differences.push(text);
            }
        }
    }
}

/// Closes M4: no view is made of a copy that is older than the journal.
#[tokio::test(start_paused = true)]
async fn every_view_says_what_the_journal_says_in_every_state_of_every_kind() {
    let world = World::new(ServiceSurface::Public, "2029-12-01T10:00:00Z");
    world.write(TREE);
    let shared = world.shared();
    let mut engine: Engine = world.engine_of(shared.clone());
    let (sender, events) = mpsc::channel::<EngineInput>(1);
    let control = Control::new(sender.clone());
    let (_ready, ready) = watch::channel(true);
    let tokens = Tokens::parse("0123456789abcdef0123456789abcdef\n").unwrap();
    let router = router(control.clone(), ready, tokens);
    let (records, differences) = (Vec::new(), Vec::new());
    let mut stage =
        Stage { world: &world, shared, control, router, records, differences, compared: 0 };
    let mut number = 0;
    let play = async {
        for (name, effect) in RESOURCES {
            let key: Key = name.parse().unwrap();
            for end in 0..4 {
                number += 1;
                let intent = intent(number, &key, effect);
                for progress in life() {
                    stage.step(&intent, progress).await;
                }
                let end = ends(&intent)[end].clone();
                stage.step(&intent, Some(end)).await;
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
        sender.send(EngineInput::Stop).await.unwrap();
    };
    let (ended, ()) = tokio::join!(engine.run(events, RunUntil::Stopped), play);
    ended.unwrap();
    assert_eq!(stage.differences, Vec::<String>::new());
    assert_eq!(stage.compared, RESOURCES.len() * 4 * 7 * 12, "every view was compared each time");
}
