//! A state in memory, a sandbox, and engines over both: for tests from files to objects.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use chrono::{DateTime, Utc};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tower::ServiceExt;

use crate::support::counting_index::Counting;
use crate::support::requests::Seen;
use reckon::base::clock::{Clock, VirtualClock};
use reckon::base::hash::Digest;
use reckon::base::id::Key;
use reckon::base::money::Currency;
use reckon::base::secret::Secret;
use reckon::client::request::{ClientCredentials, ServiceConfig};
use reckon::client::service_client::Client;
use reckon::client::transport::{FaultlessWire, Transport};
use reckon::config::value::SyncMode;
use reckon::engine::core::coordinator::{Engine, RunUntil};
use reckon::engine::handles::shared::{
    EngineParts, EngineSettings, EngineShared, PartnerAccess, SecretError, SecretResolver,
};
use reckon::engine::known::files::SpecSource;
use reckon::engine::protocol::input::{AllowPrune, EngineCommand, EngineInput};
use reckon::engine::protocol::query::Reply;
use reckon::kinds::register::KINDS;
use reckon::kinds::schema::kind::CheckCx;
use reckon::model::manifest::OnDoubt;
use reckon::plan::state_view;
use reckon::policy::prune::PruneGuards;
use reckon::sandbox::options::{SandboxOptions, ServiceSurface};
use reckon::sandbox::server::Sandbox;
use reckon::sandbox::state::store::in_memory;
use reckon::spec::document::ReadContext;
use reckon::spec::tree::attachments::AttachmentFolder;
use reckon::spec::tree::loader::Loader;
use reckon::store::disk::traits::MemoryDisk;
use reckon::store::index::ordered::{Index, MemoryIndex};
use reckon::store::journal::files::JournalOptions;
use reckon::store::journal::log::Journal;
use reckon::store::projection::fold::IndexFold;
use reckon::store::read_model::model::ReadModel;
use reckon::store::vault::key::MasterKey;
use reckon::store::vault::values::Vault;
use reckon::store::writer::handle::Writer;

/// Resolves secrets: texts from the spec, files from the world, codes from the sandbox, attachments from their folder.
struct FromSandbox(axum::Router, BTreeMap<String, String>, AttachmentFolder);

impl SecretResolver for FromSandbox {
    fn resolve(&self, source: &Value, key: &Key) -> Result<Secret, SecretError> {
        if let Some(literal) = source.get("literal").and_then(Value::as_str) {
            return Ok(Secret::from(literal.to_owned()));
        }
        if let Some(file) = source.get("file").and_then(Value::as_str) {
            return Ok(Secret::from(self.1[file].clone()));
        }
        if let Some(text) =
            source.get("env").and_then(Value::as_str).and_then(|env| self.1.get(env))
        {
            return Ok(Secret::from(text.clone()));
        }
        let body = json!({"merchant": key.name});
        let answer = request(&self.0, "POST", "/_sandbox/credentials", None, Some(&body));
        Ok(Secret::from(answer["authorization_code"].as_str().unwrap_or_default().to_owned()))
    }

    fn attachment(&self, path: &str, sha256: Digest) -> Result<Vec<u8>, SecretError> {
        self.2.read(path, sha256).map_err(|message| SecretError { message })
    }
}

/// Sends one request in this process. Lines of JSON become a list.
pub(crate) fn request(
    router: &axum::Router,
    method: &str,
    path: &str,
    key: Option<&str>,
    body: Option<&Value>,
) -> Value {
    use futures::FutureExt;
    let body = body.map_or_else(axum::body::Body::empty, |body| body.to_string().into());
    let mut request = http::Request::builder().method(method).uri(path).header("host", "localhost");
    if let Some(key) = key {
        let basic = data_encoding::BASE64.encode(format!("{key}:").as_bytes());
        request = request.header("authorization", format!("Basic {basic}"));
    }
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

/// Web host of another product brand.
pub(crate) const BRAND: &str = "https://brand.example";

/// Everything outside the engine, with the settings of engines.
pub(crate) struct World {
    pub(crate) sandbox: Sandbox,
    pub(crate) journal: MemoryDisk,
    pub(crate) index: Arc<MemoryIndex>,
    /// Number of hooks' actions and failures that engines read from the index.
    pub(crate) reads: Arc<AtomicU64>,
    /// Secrets by the name of their file or variable.
    pub(crate) files: BTreeMap<String, String>,
    pub(crate) vault: MemoryDisk,
    /// Key of the state's digests; `[9; 32]` at first.
    pub(crate) digest_key: [u8; 32],
    /// Number of failures in a row after which a resource is given up; `None` at first.
    pub(crate) failures_max: Option<u32>,
    /// Limits and approvals.
    pub(crate) policy: reckon::policy::PolicyRules,
    /// Guards of removals; none at first.
    pub(crate) prune: PruneGuards,
    /// Retention of settled events in a daemon; `None` at first, which keeps them for ever.
    pub(crate) keep: Option<chrono::TimeDelta>,
    /// True if the first creation of a process reads the list of its kind; false at first.
    pub(crate) first_look: bool,
    /// True if live applications of a state that began empty wait for a person; false at first.
    pub(crate) cautious_start: bool,
    /// The beginning of changes that documents ask a daemon for; automatic at first.
    pub(crate) sync: SyncMode,
    /// True if engines follow the sandbox's clock; false at first.
    pub(crate) sandbox_clock: bool,
    /// Recorder of the requests of all engines; `None` at first.
    pub(crate) seen: Option<Seen>,
    clock: Arc<VirtualClock>,
    /// Seed of the next engine, so that no two engines draw the same keys.
    engines: AtomicU64,
    folder: tempfile::TempDir,
}

impl World {
    /// Builds a sandbox of this surface at this time, and an empty state.
    pub(crate) fn new(surface: ServiceSurface, epoch: &str) -> Self {
        Self::seeded(surface, epoch, SandboxOptions::default().seed)
    }

    /// Does the same with another seed of the sandbox.
    pub(crate) fn seeded(surface: ServiceSurface, epoch: &str, seed: u64) -> Self {
        let epoch: DateTime<Utc> = epoch.parse().unwrap();
        let clock = Arc::new(VirtualClock::new(epoch));
        let options =
            SandboxOptions { clock: clock.clone(), surface, seed, ..SandboxOptions::default() };
        let sandbox = Sandbox::open(in_memory(), options).unwrap();
        Self {
            sandbox,
            journal: MemoryDisk::new(),
            index: Arc::new(MemoryIndex::new()),
            reads: Arc::default(),
            files: BTreeMap::new(),
            vault: MemoryDisk::new(),
            digest_key: [9; 32],
            failures_max: None,
            policy: reckon::policy::PolicyRules::default(),
            prune: PruneGuards::without_guards(),
            keep: None,
            first_look: false,
            cautious_start: false,
            sync: SyncMode::Auto,
            sandbox_clock: false,
            seen: None,
            clock,
            engines: AtomicU64::new(1),
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// Replaces the state by an empty one.
    pub(crate) fn lose_the_state(&mut self) {
        (self.journal, self.vault) = (MemoryDisk::new(), MemoryDisk::new());
        self.index = Arc::new(MemoryIndex::new());
    }

    /// Returns the time in this world.
    pub(crate) fn now(&self) -> DateTime<Utc> {
        self.clock.now()
    }

    /// Writes the file that holds the tree.
    pub(crate) fn write(&self, text: &str) {
        self.write_beside("tree.yaml", text);
    }

    /// Writes another file of the tree.
    pub(crate) fn write_beside(&self, name: &str, text: &str) {
        self.write_bytes(name, text.as_bytes());
    }

    fn write_bytes(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.folder.path().join(name), bytes).unwrap();
    }

    pub(crate) fn remove(&self, name: &str) {
        std::fs::remove_file(self.folder.path().join(name)).unwrap();
    }

    /// Requests a control path of the sandbox.
    pub(crate) fn control(&self, method: &str, path: &str, body: &Value) -> Value {
        request(&self.sandbox.router(), method, &format!("/_sandbox/{path}"), None, Some(body))
    }

    /// Sends a request to the service with a merchant's test key.
    pub(crate) fn ask(&self, merchant: &str, method: &str, path: &str, body: &Value) -> Value {
        let all = self.control("GET", "credentials", &Value::Null);
        let merchants = all["merchants"].as_array().unwrap();
        let merchant = merchants.iter().find(|one| one["name"] == merchant).unwrap();
        let key = merchant["test"]["secret_key"].as_str().unwrap();
        request(&self.sandbox.router(), method, path, Some(key), Some(body))
    }

    /// Returns every object of a kind that the service holds.
    pub(crate) fn objects(&self, kind: &str) -> Vec<Value> {
        match self.control("GET", &format!("objects/{kind}"), &Value::Null) {
            Value::Array(items) => items,
            Value::Null => Vec::new(),
            one @ (Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_)) => {
                vec![one]
            }
        }
    }

    /// Returns the folder of attachments.
    fn attachments(&self) -> AttachmentFolder {
        AttachmentFolder::new(self.folder.path().join("attachments"))
    }

    /// Writes a file to attach.
    pub(crate) fn attach(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::create_dir_all(self.folder.path().join("attachments")).unwrap();
        self.write_bytes(&format!("attachments/{name}"), bytes.as_ref());
    }

    fn loader(&self) -> Loader {
        let check = CheckCx {
            decimal_amounts_only: true,
            web_urls: vec![BRAND.to_owned(), "https://127.0.0.1:8700".to_owned()],
            currency: Currency::USD,
            plans: BTreeMap::new(),
            programs: None,
            variables: None,
            files: Some(Arc::new(self.attachments())),
        };
        let mut loader =
            Loader::new(self.folder.path(), "specs", ReadContext { kinds: KINDS, check });
        loader.load_all();
        loader
    }

    /// Loads the tree as an engine reads it.
    pub(crate) fn specs(&self) -> Box<dyn SpecSource> {
        Box::new(self.loader())
    }

    /// Builds an engine over the present state.
    pub(crate) fn engine(&self) -> Engine {
        self.engine_of(self.shared())
    }

    /// Builds an engine over these parts.
    pub(crate) fn engine_of(&self, shared: Arc<EngineShared>) -> Engine {
        Engine::new(shared, Box::new(self.loader())).unwrap()
    }

    /// Builds an engine that is started while another one runs, over a copy of its disks. It answers queries and never
    /// runs.
    pub(crate) fn engine_again(&self) -> Engine {
        self.engine_of(self.shared_over(&self.journal.copy(), &self.vault.copy()))
    }

    /// Returns the parts of an engine over the present state.
    pub(crate) fn shared(&self) -> Arc<EngineShared> {
        self.shared_over(&self.journal, &self.vault)
    }

    fn shared_over(&self, journal: &MemoryDisk, vault: &MemoryDisk) -> Arc<EngineShared> {
        let partner = self.control("GET", "credentials", &Value::Null)["partner"].clone();
        let text = |field: &str| partner[field].as_str().unwrap().to_owned();
        let vault = Vault::open(Arc::new(vault.clone()), &MasterKey::new([7; 32])).unwrap();
        let journal = Arc::new(journal.clone());
        let (journal, _) = Journal::open(journal, JournalOptions::default()).unwrap();
        let index: Arc<dyn Index> =
            Arc::new(Counting { behind: self.index.clone(), reads: self.reads.clone() });
        let writer = Writer::inline(journal, vault.clone(), IndexFold::new(index.clone()));
        let service = ServiceConfig {
            base_url: "https://127.0.0.1:8700".to_owned(),
            web_url: "https://127.0.0.1:8700".to_owned(),
            timeout: Duration::from_secs(30),
            ca_file: None,
            partner: Some(ClientCredentials {
                client_id: text("client_id"),
                client_secret: Secret::from(text("client_secret")),
            }),
            jitter_seed: 1,
        };
        let router = self.sandbox.router();
        let router = self.seen.iter().fold(router, |router, seen| seen.before(router));
        let transport = Transport::InProcess { router, wire: Arc::new(FaultlessWire) };
        EngineShared::new(EngineParts {
            client: Client::new(service, transport, self.clock.clone()).unwrap(),
            writer: Arc::new(writer),
            facts: ReadModel::new(index),
            vault,
            clock: if self.sandbox_clock {
                Arc::new(self.sandbox.clock())
            } else {
                self.clock.clone()
            },
            secrets: Arc::new(FromSandbox(
                self.sandbox.router(),
                self.files.clone(),
                self.attachments(),
            )),
            partner: Ok(PartnerAccess {
                client_id: Secret::from(text("client_id")),
                client_secret: Secret::from(text("client_secret")),
                redirect_uri: text("redirect_uri"),
            }),
            settings: EngineSettings {
                planning: state_view::PlannerSettings {
                    partner: "acme".to_owned(),
                    digest_key: self.digest_key,
                    on_doubt: OnDoubt::Recreate,
                    live_refused: None,
                    prune: self.prune.clone(),
                },
                timeout: Duration::from_secs(30),
                grace: Duration::from_secs(30),
                concurrency: 16,
                failures_max: self.failures_max,
                hook_time: None,
                first_look: self.first_look,
                cautious_start: self.cautious_start,
                policy: self.policy.clone(),
            },
            rng: ChaCha20Rng::seed_from_u64(self.engines.fetch_add(1, Ordering::Relaxed)).into(),
        })
    }

    /// Returns every open step with its action, name, reason and message, each sum of money, and each failure.
    pub(crate) fn plan(&self) -> Vec<String> {
        told(&self.engine())
    }

    /// Runs an engine until only outside events remain. Returns its plan.
    pub(crate) async fn settle(&self) -> Vec<String> {
        let mut engine = self.engine();
        let (_sender, events) = mpsc::channel::<EngineInput>(1);
        engine.run(events, RunUntil::Settled).await.unwrap();
        told(&engine)
    }
}

/// Does the same of this engine.
pub(crate) fn told(engine: &Engine) -> Vec<String> {
    let view = engine.view().plan_view();
    let steps = view.steps.iter().map(|step| {
        format!(
            "{:?} {}/{}: {} ({})",
            step.verdict, step.kind, step.name, step.reason, step.message
        )
    });
    let totals = view.totals.iter();
    let totals =
        totals.map(|sum| format!("{} {} {} {}", sum.amount, sum.currency, sum.meaning, sum.mode));
    let unable = engine.failures().iter();
    let unable = unable.map(|(key, unable)| format!("{key}: {}", unable.message()));
    steps.chain(totals).chain(unable).collect()
}

/// Allows removals in a process in which nothing else runs; returns their resources.
pub(crate) async fn allowed(engine: &mut Engine, removals: &AllowPrune) -> Vec<Key> {
    let command = EngineCommand::AllowPrune(removals.clone(), "uid 7".to_owned());
    let reply = engine.command(command).await.unwrap();
    let Reply::Allowed(keys) = reply else { panic!("unexpected response") };
    keys
}
