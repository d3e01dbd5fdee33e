//! The spine, end to end: files in, the service made to match, in process.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    reason = "a failure here is a failed test"
)]

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use reckon::base::clock::VirtualClock;
use reckon::base::id::Key;
use reckon::base::money::Currency;
use reckon::base::secret::Secret;
use reckon::client::{Client, Partner, Service, Transport, Untouched};
use reckon::engine::{
    Engine, Event, PartnerAccess, Parts, SecretError, Secrets, Settings, Shared, Until,
};
use reckon::kinds::CheckCx;
use reckon::kinds::register::KINDS;
use reckon::model::manifest::OnDoubt;
use reckon::model::plan::Verdict;
use reckon::plan;
use reckon::sandbox::{Options, Sandbox};
use reckon::spec::document::ReadCx;
use reckon::spec::loader::Loader;
use reckon::store::disk::{Disk, MemoryDisk};
use reckon::store::facts::Facts;
use reckon::store::fold::IndexFold;
use reckon::store::index::{Index, MemoryIndex};
use reckon::store::journal::{Journal, Options as JournalOptions};
use reckon::store::key::MasterKey;
use reckon::store::vault::Vault;
use reckon::store::writer::Writer;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tower::ServiceExt;

const TREE: &str = r#"
apiVersion: reckon.dev/v1
kind: Merchant
metadata: {name: acme}
spec:
  mode: test
  timezone: America/Chicago
  credentials: {authorization_code: {env: CODE_ACME}}
---
apiVersion: reckon.dev/v1
kind: Contact
metadata: {name: jane}
spec:
  merchant: acme
  first_name: Jane
  last_name: Doe
  email_addresses: [{address: jane@example.com}]
---
apiVersion: reckon.dev/v1
kind: Invoice
metadata: {name: jane-1}
spec:
  merchant: acme
  contact: jane
  bank_account: Operating
  invoice_date: 2030-01-15
  line_items:
    - {description: Retainer, rate_per_quantity: "125.00 USD"}
    - {description: Filing, rate_per_quantity: "10.50 USD"}
  invoice_messages: [{email_addresses: [jane@example.com]}]
---
apiVersion: reckon.dev/v1
kind: SavedMethod
metadata:
  name: jane-card
  annotations: {reckon.dev/deletion: delete}
spec:
  merchant: acme
  type: card
  description: first
  source: {card: {number: "4242424242424242", exp_month: 12, exp_year: 2031, name: Jane Doe}}
---
apiVersion: reckon.dev/v1
kind: SavedMethod
metadata:
  name: jane-bank
  annotations: {reckon.dev/deletion: delete}
spec:
  merchant: acme
  type: bank
  source:
    bank: {routing_number: "000000013", account_number: "1234567890", account_type: CHECKING, given_name: Jane, surname: Doe}
---
apiVersion: reckon.dev/v1
kind: RecurringCharge
metadata: {name: jane-monthly}
spec:
  merchant: acme
  method: jane-card
  amount: "20.00 USD"
  description: Membership
  schedule: {start: 2030-02-01, interval_unit: MONTH, interval_delay: 1, days: ["1", "LAST"]}
"#;

/// Codes from the sandbox, card numbers from the file.
struct FromSandbox(axum::Router);

impl Secrets for FromSandbox {
    fn resolve(&self, source: &Value, key: &Key) -> Result<Secret, SecretError> {
        if let Some(literal) = source.get("literal").and_then(Value::as_str) {
            return Ok(Secret::from(literal.to_owned()));
        }
        let body = json!({"merchant": key.name});
        let answer = control(&self.0, "POST", "/_sandbox/credentials", Some(body));
        let code = answer["authorization_code"].as_str().unwrap_or_default();
        Ok(Secret::from(code.to_owned()))
    }
}

/// One request to a control path, in process.
fn control(router: &axum::Router, method: &str, path: &str, body: Option<Value>) -> Value {
    use futures::FutureExt;
    let body = body.map_or_else(axum::body::Body::empty, |body| body.to_string().into());
    let request = http::Request::builder().method(method).uri(path).header("host", "localhost");
    let asked = async {
        let answer = router.clone().oneshot(request.body(body).unwrap()).await.unwrap();
        axum::body::to_bytes(answer.into_body(), usize::MAX).await.unwrap()
    };
    let bytes = asked.now_or_never().expect("answered at once");
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|_| {
        Value::Array(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
    })
}

/// A state in memory, a sandbox, and the way to make engines over them.
struct World {
    router: axum::Router,
    clock: Arc<VirtualClock>,
    journal: MemoryDisk,
    vault: MemoryDisk,
    index: Arc<MemoryIndex>,
    folder: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let epoch: DateTime<Utc> = "2029-12-01T10:00:00Z".parse().unwrap();
        let clock = Arc::new(VirtualClock::new(epoch));
        let options = Options { clock: clock.clone(), ..Options::default() };
        let sandbox = Sandbox::open(Arc::new(MemoryIndex::new()), options).unwrap();
        let world = Self {
            router: sandbox.router(),
            clock,
            journal: MemoryDisk::new(),
            vault: MemoryDisk::new(),
            index: Arc::new(MemoryIndex::new()),
            folder: tempfile::tempdir().unwrap(),
        };
        world.write("tree.yaml", TREE);
        world
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.folder.path().join(name), text).unwrap();
    }

    fn loader(&self) -> Loader {
        let check = CheckCx {
            decimal_amounts_only: true,
            web_urls: Vec::new(),
            currency: Currency::USD,
            plans: std::collections::BTreeMap::new(),
            programs: None,
        };
        let mut loader = Loader::new(self.folder.path(), "specs", ReadCx { kinds: KINDS, check });
        loader.load_all();
        loader
    }

    fn engine(&self) -> Engine {
        let partner =
            control(&self.router, "GET", "/_sandbox/credentials", None)["partner"].clone();
        let text = |field: &str| partner[field].as_str().unwrap().to_owned();
        let master = MasterKey::new([7; 32]);
        let vault = Vault::open(Arc::new(self.vault.clone()), &master).unwrap();
        let journal = Arc::new(self.journal.clone());
        let (journal, _) = Journal::open(journal, JournalOptions::default()).unwrap();
        let index: Arc<dyn Index> = self.index.clone();
        let writer = Writer::inline(journal, vault.clone(), IndexFold::new(index.clone()));
        let service = Service {
            base_url: "https://127.0.0.1:8700".to_owned(),
            web_url: "https://127.0.0.1:8700".to_owned(),
            timeout: Duration::from_secs(30),
            ca_file: None,
            partner: Some(Partner {
                client_id: text("client_id"),
                client_secret: Secret::from(text("client_secret")),
            }),
            jitter_seed: 1,
        };
        let transport =
            Transport::InProcess { router: self.router.clone(), wire: Arc::new(Untouched) };
        let shared = Shared::new(Parts {
            client: Client::new(service, transport, self.clock.clone()).unwrap(),
            writer: Arc::new(writer),
            facts: Facts::new(index),
            vault,
            clock: self.clock.clone(),
            secrets: Arc::new(FromSandbox(self.router.clone())),
            partner: Ok(PartnerAccess {
                client_id: Secret::from(text("client_id")),
                client_secret: Secret::from(text("client_secret")),
                redirect_uri: text("redirect_uri"),
            }),
            settings: Settings {
                planning: plan::Settings {
                    partner: "acme".to_owned(),
                    digest_key: [9; 32],
                    on_doubt: OnDoubt::Recreate,
                    live_refused: None,
                },
                timeout: Duration::from_secs(30),
                grace: Duration::from_secs(30),
                concurrency: 16,
                failures_max: Some(5),
                commit: None,
            },
            rng: ChaCha20Rng::seed_from_u64(1),
        });
        Engine::new(shared, Box::new(self.loader())).unwrap()
    }

    /// Runs an engine until only outside events remain; answers what is not settled.
    async fn settle(&self) -> Vec<String> {
        let mut engine = self.engine();
        let (_sender, events) = mpsc::channel::<Event>(1);
        engine.run(events, Until::Settled).await.unwrap();
        let view = engine.plan_view();
        let unable = engine.unable().iter();
        let unable = unable.map(|(key, unable)| format!("{key}: {}", unable.message()));
        let steps = view.steps.iter().map(|step| {
            format!(
                "{:?} {}/{}: {} ({})",
                step.verdict, step.kind, step.name, step.reason, step.message
            )
        });
        steps.chain(unable).collect()
    }

    fn objects(&self, kind: &str) -> Vec<Value> {
        let path = format!("/_sandbox/objects/{kind}");
        match control(&self.router, "GET", &path, None) {
            Value::Array(items) => items,
            Value::Null => Vec::new(),
            one => vec![one],
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_tree_becomes_objects_once_and_a_second_run_does_nothing() {
    let world = World::new();
    assert_eq!(world.settle().await, Vec::<String>::new());
    let counts = ["contacts", "invoices", "cards", "banks", "recurring_charges"]
        .map(|kind| world.objects(kind).len());
    assert_eq!(counts, [1, 1, 1, 1, 1]);
    let before = control(&world.router, "GET", "/_sandbox/requests", None);
    assert_eq!(world.settle().await, Vec::<String>::new());
    let after = control(&world.router, "GET", "/_sandbox/requests", None);
    assert_eq!(before, after, "a settled tree asks the service nothing");
}

#[tokio::test(start_paused = true)]
async fn an_edit_is_applied_and_what_cannot_change_is_told() {
    let world = World::new();
    world.settle().await;
    let edited =
        TREE.replace("20.00 USD", "25.00 USD").replace("description: first", "description: second");
    world.write("tree.yaml", &edited);
    assert_eq!(world.settle().await, Vec::<String>::new());
    assert_eq!(world.objects("recurring_charges")[0]["amount"], json!(2500));
    assert_eq!(world.objects("cards")[0]["description"], json!("second"));
    world.write("tree.yaml", &edited.replace("10.50 USD", "11.50 USD"));
    let told = world.settle().await;
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].contains("CannotChange") && told[0].contains("line_items[1].rate_per_quantity"),
        "{told:?}"
    );
}

/// What the one object of a kind says, field by field.
fn said(world: &World, kind: &str, fields: &[&str]) -> Vec<Value> {
    let objects = world.objects(kind);
    assert_eq!(objects.len(), 1, "{kind}");
    fields.iter().map(|field| objects[0][*field].clone()).collect()
}

#[tokio::test(start_paused = true)]
async fn what_only_a_fresh_token_changes_is_changed_by_one() {
    let world = World::new();
    world.settle().await;
    let ids = [said(&world, "cards", &["id"]), said(&world, "banks", &["id"])];
    let edited = TREE
        .replace("exp_year: 2031, name: Jane Doe", "exp_year: 2034, name: Jane Roe")
        .replace("1234567890", "99990000")
        .replace("surname: Doe", "surname: Roe");
    world.write("tree.yaml", &edited);
    let planned = format!("{:?}", world.engine().plan_view());
    assert!(planned.contains("Renewed") && planned.contains("fresh one-time token"), "{planned}");
    assert_eq!(world.settle().await, Vec::<String>::new());
    assert_eq!(
        said(&world, "cards", &["exp_year", "name", "number", "description"]),
        [json!(2034), json!("Jane Roe"), json!("************4242"), json!("first")]
    );
    assert_eq!(
        said(&world, "banks", &["account_number", "surname"]),
        [json!("****0000"), json!("Roe")]
    );
    assert_eq!([said(&world, "cards", &["id"]), said(&world, "banks", &["id"])], ids);
    assert_eq!(world.objects("tokens").len(), 0, "both were used");
    world.write("tree.yaml", &edited.replace("type: bank", "type: card"));
    assert!(world.settle().await.iter().any(|told| told.contains("BrokenDocument")));
}

/// The next requests of this sort go wrong.
fn strike(world: &World, method: &str, path: &str, fault: &str, times: u32) {
    let order = json!({"method": method, "path": path, "fault": fault, "times": times});
    control(&world.router, "POST", "/_sandbox/faults", Some(order));
}

/// How many requests of this sort the service served.
fn served(world: &World, method: &str, path: &str) -> usize {
    let all = control(&world.router, "GET", "/_sandbox/requests", None);
    let fits = |one: &&Value| {
        one["method"] == json!(method) && one["path"].as_str().unwrap().starts_with(path)
    };
    all["requests"].as_array().unwrap().iter().filter(fits).count()
}

/// A card whose holder changed: nothing of that shows in the journal.
async fn renamed() -> World {
    let world = World::new();
    world.settle().await;
    tokio::time::advance(Duration::from_mins(1)).await;
    world.write("tree.yaml", &TREE.replace("name: Jane Doe", "name: Jane Roe"));
    world
}

#[tokio::test(start_paused = true)]
async fn a_lost_token_or_change_is_settled_without_a_second_use_of_a_token() {
    for (method, path, fault, tokens, changes) in [
        ("PATCH", "/v1/cards/", "drop_after", 1, 1),
        ("PATCH", "/v1/cards/", "error_before", 2, 2),
        ("POST", "/v1/tokens", "drop_after", 2, 1),
        ("POST", "/v1/tokens", "error_before", 2, 1),
    ] {
        let world = renamed().await;
        strike(&world, method, path, fault, 1);
        assert_eq!(world.settle().await, Vec::<String>::new(), "{path} {fault}");
        assert_eq!(said(&world, "cards", &["name"]), [json!("Jane Roe")], "{path} {fault}");
        let sent = (served(&world, "POST", "/v1/tokens"), served(&world, "PATCH", "/v1/cards/"));
        assert_eq!(sent, (tokens, changes), "{path} {fault}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_token_that_grew_old_is_not_sent_but_another_one_made() {
    let world = renamed().await;
    strike(&world, "GET", "/v1/cards/", "error_before", 1000);
    assert_ne!(world.settle().await, Vec::<String>::new(), "the card cannot be read before");
    assert_eq!(served(&world, "POST", "/v1/tokens"), 1);
    control(&world.router, "DELETE", "/_sandbox/faults", None);
    tokio::time::advance(Duration::from_mins(4)).await;
    assert_eq!(world.settle().await, Vec::<String>::new());
    assert_eq!(served(&world, "POST", "/v1/tokens"), 2);
    assert_eq!(served(&world, "PATCH", "/v1/cards/"), 1);
    assert_eq!(said(&world, "cards", &["name"]), [json!("Jane Roe")]);
}

#[tokio::test(start_paused = true)]
async fn a_refused_token_or_change_is_told_and_sent_once() {
    let world = World::new();
    world.settle().await;
    world.write("tree.yaml", &TREE.replace("exp_year: 2031", "exp_year: 2028"));
    let told = world.settle().await;
    assert!(told.len() == 1 && told[0].contains("Refused"), "{told:?}");
    let requests = control(&world.router, "GET", "/_sandbox/requests", None);
    assert_eq!(world.settle().await, told);
    assert_eq!(control(&world.router, "GET", "/_sandbox/requests", None), requests);
    world.write("tree.yaml", TREE);
    assert_eq!(world.settle().await, Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_document_that_goes_away_removes_only_what_it_said_may_be_removed() {
    let world = World::new();
    world.settle().await;
    let merchant_only = TREE.split("---").next().unwrap();
    world.write("broken.yaml", "kind: [");
    world.write("tree.yaml", merchant_only);
    let told = world.settle().await;
    assert_eq!(
        world.objects("cards").iter().filter(|card| card["deleted"] != json!(true)).count(),
        1,
        "{told:?}"
    );
    assert!(told.iter().all(|step| step.contains("AbsenceNotBelieved")), "{told:?}");
    std::fs::remove_file(world.folder.path().join("broken.yaml")).unwrap();
    let told = world.settle().await;
    assert!(
        told.iter().all(|step| step.starts_with(&format!("{:?}", Verdict::Orphan))),
        "{told:?}"
    );
    let live =
        world.objects("cards").into_iter().filter(|card| card["deleted"] != json!(true)).count();
    assert_eq!(live, 0, "the card said deletion: delete");
    assert_eq!(world.objects("banks").len(), 0, "the bank said so too");
}

#[tokio::test(start_paused = true)]
async fn no_secret_and_no_personal_value_is_in_journal_index_or_vault() {
    let world = World::new();
    world.settle().await;
    let all = control(&world.router, "GET", "/_sandbox/credentials", None);
    let secret = |path: &str| all.pointer(path).unwrap().as_str().unwrap().to_owned();
    let merchants = all["merchants"].as_array().unwrap();
    let acme = merchants.iter().position(|merchant| merchant["name"] == "acme").unwrap();
    let canaries = [
        "4242424242424242".to_owned(),
        "1234567890".to_owned(),
        "Jane".to_owned(),
        "jane@example.com".to_owned(),
        secret("/partner/client_secret"),
        secret(&format!("/merchants/{acme}/test/secret_key")),
    ];
    for disk in [&world.journal, &world.vault] {
        for name in disk.list().unwrap() {
            let length = disk.len(&name).unwrap();
            let bytes = disk.read_at(&name, 0, usize::try_from(length).unwrap()).unwrap();
            for canary in &canaries {
                assert!(!shows(&bytes, canary), "{name} shows {canary}");
            }
        }
    }
    for (key, value) in world.index.scan(b"").unwrap() {
        for canary in &canaries {
            assert!(!shows(&value, canary), "{} shows {canary}", String::from_utf8_lossy(&key));
        }
    }
    let described = format!("{:?}", world.engine().plan_view());
    assert!(canaries.iter().all(|canary| !described.contains(canary.as_str())));
}

/// Whether bytes hold a text in the open, in hex or in base64.
fn shows(bytes: &[u8], canary: &str) -> bool {
    let forms = [
        canary.to_owned(),
        data_encoding::HEXLOWER.encode(canary.as_bytes()),
        data_encoding::BASE64.encode(canary.as_bytes()).trim_end_matches('=').to_owned(),
    ];
    forms.iter().any(|form| bytes.windows(form.len()).any(|window| window == form.as_bytes()))
}
