//! The engine's parts over a state in memory and a folder of documents, without the engine itself.

#![expect(clippy::arithmetic_side_effects, reason = "an overflow fails the test")]

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use parking_lot::Mutex;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use serde_json::{Value, json};

use crate::base::clock::Clock;
use crate::base::id::Key;
use crate::base::money::Currency;
use crate::base::secret::Secret;
use crate::client::request::ServiceConfig;
use crate::client::service_client::Client;
use crate::client::transport::{FaultlessWire, Transport};
use crate::engine::alerts::watch::Alerts;
use crate::engine::commands::decision::{Append, CommandWork, Decision};
use crate::engine::core::coordinator::snapshot;
use crate::engine::events::schedule::EventSchedule;
use crate::engine::handles::shared::{
    EngineParts, EngineSettings, EngineShared, SecretError, SecretResolver,
};
use crate::engine::handles::task_result::TaskResult;
use crate::engine::hooks::scripts::Scripts;
use crate::engine::known::known_state::{KnownState, StoredFacts};
use crate::engine::known::money_book::MoneyBook;
use crate::engine::protocol::input::EngineCommand;
use crate::engine::protocol::query::{EngineQuery, Reply};
use crate::engine::readers::timers::Readers;
use crate::engine::scheduler::schedule::Scheduler;
use crate::engine::tests::records::{self, NOW};
use crate::engine::tests::service::FixedService;
use crate::engine::view::EngineView;
use crate::kinds::planning::step::merchant_of;
use crate::kinds::register::KINDS;
use crate::kinds::schema::kind::CheckCx;
use crate::model::manifest::OnDoubt;
use crate::model::record::Record;
use crate::model::state::observed::{FactSource, Observation};
use crate::plan::planner::Planner;
use crate::plan::state_view::{PlannerSettings, StateView};
use crate::policy::PolicyRules;
use crate::policy::prune::PruneGuards;
use crate::spec::document::ReadContext;
use crate::spec::tree::loader::Loader;
use crate::store::disk::traits::MemoryDisk;
use crate::store::index::ordered::MemoryIndex;
use crate::store::journal::files::JournalOptions;
use crate::store::journal::log::Journal;
use crate::store::projection::fold::IndexFold;
use crate::store::read_model::model::ReadModel;
use crate::store::vault::key::MasterKey;
use crate::store::vault::values::Vault;
use crate::store::writer::handle::Writer;

/// Key of the state's digests.
pub(crate) const DIGEST_KEY: [u8; 32] = [9; 32];

/// Largest number of polls of a future that waits for nothing outside.
const POLLS_MAX: usize = 100_000;

/// A clock that a test sets.
#[derive(Debug)]
pub(crate) struct SetClock(Mutex<DateTime<Utc>>);

impl Clock for SetClock {
    fn now(&self) -> DateTime<Utc> {
        *self.0.lock()
    }
}

/// Resolves `{literal: TEXT}` alone.
struct LiteralSecrets;

impl SecretResolver for LiteralSecrets {
    fn resolve(&self, source: &Value, key: &Key) -> Result<Secret, SecretError> {
        let literal = source.get("literal").and_then(Value::as_str);
        let message = format!("{} names a secret that is not set", key.short());
        literal.map(|text| Secret::from(text.to_owned())).ok_or(SecretError { message })
    }
}

pub(crate) struct StateFixture {
    folder: tempfile::TempDir,
    clock: Arc<SetClock>,
    pub(crate) service: FixedService,
    pub(crate) shared: Arc<EngineShared>,
    pub(crate) known_state: KnownState,
    pub(crate) planner: Planner,
    pub(crate) scheduler: Scheduler,
    pub(crate) readers: Readers,
    pub(crate) event_schedule: EventSchedule,
    pub(crate) scripts: Scripts,
    pub(crate) money: MoneyBook,
    pub(crate) alerts: Alerts,
    pub(crate) stopping: bool,
}

impl StateFixture {
    /// Builds an empty state without documents.
    pub(crate) fn new() -> Self {
        Self::with(|_| ())
    }

    /// Builds an empty state with changed settings.
    pub(crate) fn with(change: impl FnOnce(&mut EngineSettings)) -> Self {
        let clock = Arc::new(SetClock(Mutex::new(NOW.parse().unwrap())));
        let service = FixedService::default();
        let mut settings = settings();
        change(&mut settings);
        let shared = EngineShared::new(parts(&clock, &service, settings));
        let folder = tempfile::tempdir().unwrap();
        let known_state = load(&shared, folder.path());
        let scheduler = Scheduler::new(shared.limiter.clone(), shared.superseded.clone());
        let planner = Planner::new(shared.settings.planning.clone());
        let mut fixture = Self {
            folder,
            clock,
            service,
            shared,
            known_state,
            planner,
            scheduler,
            readers: Readers::default(),
            event_schedule: EventSchedule::default(),
            scripts: Scripts::default(),
            money: MoneyBook::default(),
            alerts: Alerts::default(),
            stopping: false,
        };
        fixture.refresh();
        fixture
    }

    /// Builds a state with these documents, and a connected merchant `acme` among them.
    pub(crate) fn with_documents(documents: &[&str]) -> Self {
        let mut fixture = Self::new();
        fixture.connect(documents);
        fixture
    }

    /// Writes the merchant's document and these, and records that the merchant is connected.
    pub(crate) fn connect(&mut self, documents: &[&str]) {
        let all = [&[records::MERCHANT], documents].concat();
        self.write(&all);
        self.apply("Merchant/acme", "m_acme", records::merchant_facts());
    }

    /// Replaces the documents.
    pub(crate) fn write(&mut self, documents: &[&str]) {
        let text = documents.join("---\n");
        std::fs::write(self.folder.path().join("tree.yaml"), text).unwrap();
        self.refresh();
    }

    /// Records that the object of a document exists exactly as the document says, with further
    /// facts.
    pub(crate) fn apply(&mut self, name: &str, id: &str, facts: Value) {
        let key: Key = name.parse().unwrap();
        let target = self.planner.adoption_target(&self.known_state, &key).expect("a document");
        let mut all = target.assumed.facts;
        if let Value::Object(facts) = facts {
            for (name, value) in facts {
                all[name] = value;
            }
        }
        self.record(Record::Observation(Box::new(Observation {
            merchant: merchant_of(&target.manifest).unwrap(),
            key,
            at: self.now(),
            source: FactSource::Answer,
            remote_id: Some(id.parse().unwrap()),
            exists: Some(true),
            applied: target.assumed.applied,
            facts: all,
        })));
    }

    /// Appends a record, and reads the state again.
    pub(crate) fn record(&mut self, record: Record) {
        self.append(vec![record]);
    }

    pub(crate) fn append(&mut self, records: Vec<Record>) {
        complete(self.shared.write(Vec::new(), records)).unwrap();
        self.refresh();
    }

    /// Seals a value of a subject, and returns the vault's name of it.
    pub(crate) fn seal(&self, subject: &str, text: &str) -> String {
        let sealed =
            self.shared.random(|rng| self.shared.vault.seal(subject, text.as_bytes(), rng));
        let sealed = sealed.unwrap();
        let reference = sealed.reference().to_string();
        complete(self.shared.write(vec![sealed], Vec::new())).unwrap();
        reference
    }

    pub(crate) fn now(&self) -> DateTime<Utc> {
        self.clock.now()
    }

    /// Moves the clock, and plans again.
    pub(crate) fn pass(&mut self, span: TimeDelta) {
        *self.clock.0.lock() += span;
        self.refresh();
    }

    /// Reads the state and the documents again, and plans everything.
    pub(crate) fn refresh(&mut self) {
        self.known_state = load(&self.shared, self.folder.path());
        self.planner = Planner::new(self.shared.settings.planning.clone());
        self.planner.recompute_all(&self.known_state);
    }

    pub(crate) fn view(&self) -> EngineView<'_> {
        EngineView {
            snapshot: snapshot!(self),
            scheduler: &self.scheduler,
            readers: &self.readers,
            event_schedule: &self.event_schedule,
            scripts: &self.scripts,
            money: &self.money,
            alerts: &self.alerts,
        }
    }

    pub(crate) fn decide(&self, command: EngineCommand) -> Decision {
        self.view().decide(command).unwrap()
    }

    /// Returns the answer of a decision that records nothing.
    pub(crate) fn answer_to(&self, command: EngineCommand) -> Reply {
        answer_in(self.decide(command))
    }

    pub(crate) fn ask(&self, query: EngineQuery) -> Reply {
        self.view().answer(query).unwrap()
    }

    /// Returns the reason of a step, as a word.
    pub(crate) fn reason(&self, name: &str) -> &'static str {
        self.planner.step(&name.parse().unwrap()).expect("a step").reason.word()
    }

    /// Returns the number of records in the journal.
    pub(crate) fn length(&self) -> u64 {
        self.shared.writer.head().sequence
    }
}

/// Returns the answer of a decision that records nothing.
pub(crate) fn answer_in(decision: Decision) -> Reply {
    match decision.work {
        CommandWork::Answer(reply) => reply,
        work @ (CommandWork::Append(_) | CommandWork::Run(_)) => panic!("{work:?}"),
    }
}

/// Returns the records of a decision with their consequences.
pub(crate) fn append_in(decision: Decision) -> Append {
    match decision.work {
        CommandWork::Append(append) => *append,
        work @ (CommandWork::Answer(_) | CommandWork::Run(_)) => panic!("{work:?}"),
    }
}

/// Runs the task of a decision.
pub(crate) async fn run_in(decision: Decision) -> (TaskResult, Reply) {
    match decision.work {
        CommandWork::Run(task) => task.await.unwrap(),
        work @ (CommandWork::Answer(_) | CommandWork::Append(_)) => panic!("{work:?}"),
    }
}

/// Completes a future that waits for nothing outside, such as a write.
pub(crate) fn complete<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..POLLS_MAX {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
    }
    panic!("the future waits for something outside");
}

pub(crate) fn settings() -> EngineSettings {
    EngineSettings {
        planning: PlannerSettings {
            partner: "acme".to_owned(),
            digest_key: DIGEST_KEY,
            on_doubt: OnDoubt::Hold,
            live_refused: None,
            prune: PruneGuards::without_guards(),
        },
        timeout: Duration::from_secs(30),
        grace: Duration::from_secs(30),
        concurrency: 4,
        failures_max: None,
        hook_time: None,
        first_look: false,
        cautious_start: false,
        policy: PolicyRules::default(),
    }
}

fn parts(clock: &Arc<SetClock>, service: &FixedService, settings: EngineSettings) -> EngineParts {
    let address = "https://127.0.0.1:8700".to_owned();
    let config = ServiceConfig {
        base_url: address.clone(),
        web_url: address,
        timeout: settings.timeout,
        ca_file: None,
        partner: None,
        jitter_seed: 1,
    };
    let transport =
        Transport::InProcess { router: service.router(), wire: Arc::new(FaultlessWire) };
    let vault = Vault::open(Arc::new(MemoryDisk::new()), &MasterKey::new([7; 32])).unwrap();
    let disk = Arc::new(MemoryDisk::new());
    let (journal, _) = Journal::open(disk, JournalOptions::default()).unwrap();
    let index = Arc::new(MemoryIndex::new());
    let writer = Writer::inline(journal, vault.clone(), IndexFold::new(index.clone()));
    EngineParts {
        client: Client::new(config, transport, clock.clone()).unwrap(),
        writer: Arc::new(writer),
        facts: ReadModel::new(index),
        vault,
        clock: clock.clone(),
        secrets: Arc::new(LiteralSecrets),
        partner: Err(SecretError { message: "there is no partner".to_owned() }),
        settings,
        rng: ChaCha20Rng::seed_from_u64(1).into(),
    }
}

fn load(shared: &Arc<EngineShared>, folder: &std::path::Path) -> KnownState {
    let check = CheckCx {
        decimal_amounts_only: true,
        web_urls: Vec::new(),
        currency: Currency::USD,
        plans: BTreeMap::new(),
        programs: None,
        variables: None,
        files: None,
    };
    let mut loader = Loader::new(folder, "specs", ReadContext { kinds: KINDS, check });
    loader.load_all();
    let known = StoredFacts::read(&shared.facts).unwrap();
    let (specs, clock) = (Box::new(loader), shared.clock.clone());
    let known = KnownState::new(&shared.facts, known, specs, clock).unwrap();
    known.with_limits(shared.guard.clone(), shared.settings.cautious_start)
}

#[test]
fn an_applied_document_settles_and_a_changed_one_does_not() {
    let mut fixture = StateFixture::with_documents(&[&records::contact("jane")]);
    assert_eq!(fixture.reason("Merchant/acme"), "InSync");
    assert_eq!(fixture.reason("Contact/jane"), "NotCreated");
    fixture.apply("Contact/jane", "cont_1", json!({}));
    assert_eq!(fixture.reason("Contact/jane"), "InSync");
    assert!(fixture.view().known_state.desired().broken.is_empty());
}
