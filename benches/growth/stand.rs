//! A daemon's engine over a real state directory, and the emulator as its service, in one process and by one virtual
//! clock.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use futures::FutureExt;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tower::ServiceExt;

use super::failed::Failed;
use reckon::base::clock::{Clock, VirtualClock};
use reckon::base::hash::{Digest, sha256};
use reckon::base::id::{Key, Mode};
use reckon::base::money::Currency;
use reckon::base::secret::Secret;
use reckon::client::request::{ClientCredentials, ServiceConfig};
use reckon::client::service_client::Client;
use reckon::client::transport::{FaultlessWire, Transport};
use reckon::control::handle::Control;
use reckon::engine::core::coordinator::{Engine, RunUntil};
use reckon::engine::core::retention::Retention;
use reckon::engine::handles::shared::{
    EngineParts, EngineSettings, EngineShared, PartnerAccess, SecretError, SecretResolver,
};
use reckon::engine::hooks::notify::{DeliveryAttempt, NotificationSender};
use reckon::engine::protocol::input::{EngineInput, ScriptSet};
use reckon::engine::protocol::payers::IntakeLink;
use reckon::http::public::public_routes::PublicRoutes;
use reckon::http::public::webhooks::public_router;
use reckon::kinds::register::KINDS;
use reckon::kinds::schema::kind::CheckCx;
use reckon::model::events::event::EventLedger;
use reckon::model::manifest::OnDoubt;
use reckon::notify::message::{DeliveryResult, OutgoingNotification};
use reckon::policy::Rights;
use reckon::policy::prune::PruneGuards;
use reckon::sandbox::options::SandboxOptions;
use reckon::sandbox::server::Sandbox;
use reckon::sandbox::state::store::LOOKED_UP;
use reckon::sandbox::webhooks;
use reckon::scripting::hooks::Hooks;
use reckon::scripting::language::names::ConfiguredNames;
use reckon::scripting::language::source::ScriptSource;
use reckon::spec::document::ReadContext;
use reckon::spec::tree::loader::Loader;
use reckon::store::disk::directory::LockOwner;
use reckon::store::disk::directory::RealDisk;
use reckon::store::error::OpenReport;
use reckon::store::index::buffered::BufferedIndex;
use reckon::store::index::logged::LoggedIndex;
use reckon::store::index::ordered::Index;
use reckon::store::index::sled::SledIndex;
use reckon::store::journal::files::JournalOptions;
use reckon::store::read_model::model::ReadModel;
use reckon::store::state::compact::{ArchivePolicy, CompactionRequest};
use reckon::store::state::index::close_state;
use reckon::store::state::open::{OpenState, StateOptions, StateParts, assemble};
use reckon::store::vault::key::MasterKey;
use reckon::store::writer::handle::Writer;

const START: &str = "2026-11-22T12:00:00Z";
/// The address at which the service finds the daemon.
const BASE: &str = "https://daemon.example";
/// The key of the state; it opens nothing else.
const KEY: [u8; 32] = [7; 32];
const LINKS: [u8; 32] = [3; 32];
const MERCHANT: &str = "apiVersion: reckon.dev/v1\nkind: Merchant\nmetadata: {name: acme}\nspec:\n  mode: test\n  \
    timezone: America/Chicago\n  credentials: {authorization_code: {env: CODE_ACME}}\n";

/// Sends one request to the emulator.
fn request(
    router: &axum::Router,
    method: &str,
    path: &str,
    key: Option<&str>,
    body: &Value,
) -> Result<Value, Failed> {
    let mut request = http::Request::builder().method(method).uri(path).header("host", "localhost");
    if let Some(key) = key {
        let basic = data_encoding::BASE64.encode(format!("{key}:").as_bytes());
        request = request.header("authorization", format!("Basic {basic}"));
    }
    let request = request.body(axum::body::Body::from(body.to_string()))?;
    let asked = async {
        let answer = router.clone().oneshot(request).await?;
        Ok::<_, Failed>(axum::body::to_bytes(answer.into_body(), usize::MAX).await?)
    };
    let bytes = asked.now_or_never().ok_or("the emulator waits")??;
    Ok(serde_json::from_slice(&bytes)?)
}

/// Returns the text at a pointer, empty where there is none.
fn text(value: &Value, pointer: &str) -> String {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Resolves authorization codes from the emulator.
struct FromSandbox(axum::Router);

impl SecretResolver for FromSandbox {
    fn resolve(&self, _source: &Value, key: &Key) -> Result<Secret, SecretError> {
        let body = json!({"merchant": key.name});
        let answer = request(&self.0, "POST", "/_sandbox/credentials", None, &body);
        let answer = answer.map_err(|error| SecretError { message: error.to_string() })?;
        Ok(Secret::from(text(&answer, "/authorization_code")))
    }

    fn attachment(&self, _path: &str, _sha256: Digest) -> Result<Vec<u8>, SecretError> {
        Err(SecretError { message: "there are no attachments".to_owned() })
    }
}

/// Accepts every notification at once.
struct Taker;

impl NotificationSender for Taker {
    fn deliver<'a>(&'a self, _message: &'a OutgoingNotification) -> DeliveryAttempt<'a> {
        Box::pin(async { DeliveryResult::Done })
    }

    fn drops_repeats(&self, _target: &str) -> bool {
        false
    }

    fn allows_any_address(&self, _target: &str) -> bool {
        false
    }

    fn intake_address(&self, link: &IntakeLink) -> String {
        PublicRoutes::new(&LINKS).intake_url(BASE, link)
    }
}

/// A state directory, the emulator and the clock.
pub(crate) struct Stand {
    folder: PathBuf,
    clock: Arc<VirtualClock>,
    sandbox: Sandbox,
    script: String,
    keep: TimeDelta,
    /// The merchant's key, once it is connected.
    key: String,
    engines: u64,
}

/// Access to a running daemon.
pub(crate) struct Running<'a> {
    stand: &'a Stand,
    public: axum::Router,
    facts: ReadModel,
}

impl Stand {
    /// Makes an empty state; its daemon runs this script and keeps events for the span `keep`.
    pub(crate) fn new(folder: &Path, script: &str, keep: TimeDelta) -> Result<Self, Failed> {
        let clock = Arc::new(VirtualClock::new(START.parse()?));
        let options = SandboxOptions { clock: clock.clone(), ..SandboxOptions::default() };
        let emulator = LoggedIndex::open(&folder.join("emulator"), LOOKED_UP, || Ok(Vec::new()))?;
        let sandbox = Sandbox::open(Arc::new(emulator), options)?;
        std::fs::create_dir_all(folder.join("specs"))?;
        std::fs::write(folder.join("specs/merchant.yaml"), MERCHANT)?;
        let (folder, script) = (folder.to_owned(), script.to_owned());
        Ok(Self { folder, clock, sandbox, script, keep, key: String::new(), engines: 0 })
    }

    /// Returns the state directory.
    pub(crate) fn state(&self) -> PathBuf {
        self.folder.join("state")
    }

    /// Connects the merchant and has its events posted to the daemon from then on.
    pub(crate) async fn connect(&mut self) -> Result<(), Failed> {
        self.running(async |running| {
            running.wait(60).await;
            Ok(())
        })
        .await?;
        let all = self.control("credentials")?;
        let merchants = all.get("merchants").and_then(Value::as_array);
        let mut merchants = merchants.into_iter().flatten();
        let acme = merchants.find(|one| text(one, "/name") == "acme");
        self.key = text(acme.ok_or("there is no merchant")?, "/test/secret_key");
        let url =
            PublicRoutes::new(&LINKS).gateway_url(BASE, &"Merchant/acme".parse()?, Mode::Test, 0);
        self.ask("PATCH", "/v1/merchant", &json!({"test_events_urls": url}))?;
        Ok(())
    }

    fn control(&self, path: &str) -> Result<Value, Failed> {
        request(&self.sandbox.router(), "GET", &format!("/_sandbox/{path}"), None, &Value::Null)
    }

    /// Sends a request to the service with the merchant's key.
    fn ask(&self, method: &str, path: &str, body: &Value) -> Result<Value, Failed> {
        request(&self.sandbox.router(), method, path, Some(&self.key), body)
    }

    /// Runs the daemon during `act`, and ends it cleanly.
    pub(crate) async fn running<T>(
        &mut self,
        act: impl AsyncFnOnce(&Running<'_>) -> Result<T, Failed>,
    ) -> Result<T, Failed> {
        self.engines = self.engines.saturating_add(1);
        let (shared, index) = self.shared()?;
        let (facts, writer) = (shared.facts.clone(), shared.writer.clone());
        let mut engine = Engine::new(shared, Box::new(self.loader()))?;
        engine.start_sweeps()?;
        let (late, ahead) = (Retention::LATE, Retention::AHEAD);
        engine.retain(Retention { keep: self.keep, every: Duration::from_mins(5), late, ahead });
        engine.set_notifier(Arc::new(Taker));
        engine.use_scripts(self.scripts()?)?;
        let (sender, events) = mpsc::channel::<EngineInput>(256);
        let control = Control::new(sender.clone());
        control.receive(engine.event_receiver(sender));
        let public = public_router(control, &PublicRoutes::new(&LINKS));
        let running = Running { stand: self, public, facts };
        let acted = tokio::select! {
            ended = engine.run(events, RunUntil::Stopped) => Err(format!("the daemon ended: {ended:?}").into()),
            acted = act(&running) => acted,
        };
        close_state(&writer, &*index).await?;
        drop((running, engine, writer));
        let_go(&index).await?;
        acted
    }

    fn scripts(&self) -> Result<ScriptSet, Failed> {
        let text = self.script.as_str();
        let source = ScriptSource {
            display_path: "growth.rhai".into(),
            path: "growth.rhai".into(),
            text: text.into(),
        };
        let targets = ["ops".to_owned()].into();
        let known =
            ConfiguredNames { targets, rights: Rights::all(), ..ConfiguredNames::default() };
        let hooks = Hooks::load(&[source], &known).map_err(|problems| format!("{problems:?}"))?;
        Ok(ScriptSet { hooks: Some(hooks), files: sha256(text.as_bytes()), problems: 0 })
    }

    fn loader(&self) -> Loader {
        let check = CheckCx {
            decimal_amounts_only: true,
            web_urls: vec![SERVICE.to_owned()],
            currency: Currency::USD,
            plans: std::collections::BTreeMap::new(),
            programs: None,
            variables: None,
            files: None,
        };
        let mut loader =
            Loader::new(self.folder.join("specs"), "specs", ReadContext { kinds: KINDS, check });
        loader.load_all();
        loader
    }

    fn shared(&self) -> Result<(Arc<EngineShared>, Arc<dyn Index>), Failed> {
        let known = self.control("credentials")?;
        let partner = |field: &str| text(&known, &format!("/partner/{field}"));
        let state = self.state();
        std::fs::create_dir_all(&state)?;
        let index: Arc<dyn Index> =
            Arc::new(BufferedIndex::new(Arc::new(SledIndex::open(&state.join("sled"))?)));
        let pieces = StateParts {
            journal: Arc::new(RealDisk::open(&state.join("journal"))?),
            vault: Arc::new(RealDisk::open(&state.join("vault"))?),
            index: index.clone(),
            boot: "growth".to_owned(),
            rebuild: false,
            segment_bytes: JournalOptions::default().segment_bytes,
            watch: None,
        };
        let reckon::store::state::open::AssembledState { journal, fold, vault, .. } =
            assemble(pieces, &MasterKey::new(KEY), OpenReport::default())?;
        let writer = Writer::inline(journal, vault.clone(), fold);
        let service = ServiceConfig {
            base_url: SERVICE.to_owned(),
            web_url: SERVICE.to_owned(),
            timeout: Duration::from_secs(30),
            ca_file: None,
            partner: Some(ClientCredentials {
                client_id: partner("client_id"),
                client_secret: Secret::from(partner("client_secret")),
            }),
            jitter_seed: 1,
        };
        let router = self.sandbox.router();
        let transport =
            Transport::InProcess { router: router.clone(), wire: Arc::new(FaultlessWire) };
        let shared = EngineShared::new(EngineParts {
            client: Client::new(service, transport, self.clock.clone())?,
            writer: Arc::new(writer),
            facts: ReadModel::new(index.clone()),
            vault,
            clock: self.clock.clone(),
            secrets: Arc::new(FromSandbox(router)),
            partner: Ok(PartnerAccess {
                client_id: Secret::from(partner("client_id")),
                client_secret: Secret::from(partner("client_secret")),
                redirect_uri: partner("redirect_uri"),
            }),
            settings: settings(),
            rng: ChaCha20Rng::seed_from_u64(self.engines).into(),
        });
        Ok((shared, index))
    }

    /// Does the same as `store compact`.
    pub(crate) async fn compact(&self) -> Result<(), Failed> {
        let owner =
            LockOwner { pid: std::process::id(), host: "bench".into(), started: START.into() };
        let (dir, boot) = (self.state(), "growth".to_owned());
        let opening = StateOptions { dir, owner, boot, rebuild: false, marking: None };
        let state = OpenState::open(&opening, &MasterKey::new(KEY))?;
        let (history, at) = (ArchivePolicy::KeepFor(self.keep.num_seconds()), self.clock.now());
        state.compact(&CompactionRequest { history, at, actor: "bench".to_owned() }).await?;
        // Opening the state puts the fresh index in its place.
        OpenState::open(&opening, &MasterKey::new(KEY))?.close().await?;
        Ok(())
    }
}

/// Waits until the tasks and threads of an ended engine have released its index.
async fn let_go(index: &Arc<dyn Index>) -> Result<(), Failed> {
    for _ in 0..LOOKS_MAX {
        if Arc::strong_count(index) == 1 {
            return Ok(());
        }
        tokio::task::yield_now().await;
        std::thread::park_timeout(Duration::from_millis(1));
    }
    Err("the engine that ended still holds its index".into())
}

/// Checks for the release of the index by an ended engine.
const LOOKS_MAX: u32 = 10_000;
const SERVICE: &str = "https://127.0.0.1:8700";

fn settings() -> EngineSettings {
    EngineSettings {
        planning: reckon::plan::state_view::PlannerSettings {
            partner: "acme".to_owned(),
            digest_key: [9; 32],
            on_doubt: OnDoubt::Recreate,
            live_refused: None,
            prune: PruneGuards::without_guards(),
        },
        timeout: Duration::from_secs(30),
        grace: Duration::from_secs(30),
        concurrency: 16,
        failures_max: None,
        hook_time: None,
        first_look: false,
        cautious_start: false,
        policy: reckon::policy::PolicyRules::default(),
    }
}

impl Running<'_> {
    /// Charges a card with this amount.
    pub(crate) fn charge(&self, minor: u64) -> Result<(), Failed> {
        let method = json!({"type": "card", "number": "4242424242424242", "exp_month": 12, "exp_year": 2031, "cvv": "123"});
        let charged =
            self.stand.ask("POST", "/v1/charges", &json!({"amount": minor, "method": method}))?;
        charged.get("id").map(|_| ()).ok_or_else(|| format!("no charge: {charged}").into())
    }

    /// Has the service post its events.
    pub(crate) async fn deliver(&self) -> Result<(), Failed> {
        let post = async |notice: webhooks::OutgoingWebhook| {
            let path = notice.url.strip_prefix(BASE)?;
            let request =
                http::Request::post(path).body(axum::body::Body::from(notice.body)).ok()?;
            Some(self.public.clone().oneshot(request).await.ok()?.status().as_u16())
        };
        self.stand.sandbox.deliver_due(post).await?;
        Ok(())
    }

    /// Advances the time by this number of seconds.
    pub(crate) async fn wait(&self, seconds: u64) {
        tokio::time::sleep(Duration::from_secs(seconds)).await;
    }

    /// Returns the event ledger of the merchant.
    pub(crate) fn ledger(&self) -> Result<EventLedger, Failed> {
        Ok(self.facts.event_ledger(&"Merchant/acme".parse()?)?)
    }
}
