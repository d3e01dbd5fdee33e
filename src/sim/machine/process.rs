//! The machine of the engine: its disks, its index, and the opening of its state.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use parking_lot::Mutex;
use serde_json::Value;

use crate::base::clock::SharedClock;
use crate::base::hash::{Digest, sha256};
use crate::base::id::Key;
use crate::base::secret::Secret;
use crate::client::request::{ClientCredentials, ServiceConfig};
use crate::client::service_client::Client;
use crate::client::transport::Transport;
use crate::engine::handles::shared::{
    EngineParts, EngineSettings, EngineShared, PartnerAccess, SecretError, SecretResolver,
};
use crate::model::manifest::OnDoubt;
use crate::model::record::StateOwner;
use crate::policy::PolicyRules;
use crate::sim::machine::disk::{CrashWire, DiskCapacity, DiskCrashPoints, MachinePower, SimDisk};
use crate::sim::plan::chance::Death;
use crate::sim::plan::dice::Dice;
use crate::sim::plan::documents::PARTNER;
use crate::store::disk::traits::{Disk, MemoryDisk};
use crate::store::error::{OpenError, OpenReport};
use crate::store::index::ordered::{Index, MemoryIndex};
use crate::store::read_model::model::ReadModel;
use crate::store::state::open::{self, AssembledState, StateParts};
use crate::store::vault::key::MasterKey;
use crate::store::writer::handle::Writer;

/// Time that the engine waits for an answer.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(30);
/// Time after `TIMEOUT` within which a request may still take effect.
pub(crate) const GRACE: Duration = Duration::from_secs(30);
/// Key of every simulated state; it protects nothing.
const KEY: [u8; 32] = [7; 32];

/// Secrets by the names of the variables in the specs.
#[derive(Default)]
pub(crate) struct SimSecrets(pub(crate) Mutex<BTreeMap<String, String>>);

impl SecretResolver for SimSecrets {
    /// Returns the content of an attachment, which is its own name.
    fn attachment(&self, path: &str, digest: Digest) -> Result<Vec<u8>, SecretError> {
        let message = format!("there is no letter {path} of that content");
        let is_same = sha256(path.as_bytes()) == digest;
        is_same.then(|| path.as_bytes().to_vec()).ok_or(SecretError { message })
    }

    fn resolve(&self, source: &Value, key: &Key) -> Result<Secret, SecretError> {
        let text = |field: &str| source.get(field).and_then(Value::as_str);
        let held = self.0.lock();
        let found = text("literal").or_else(|| held.get(text("env")?).map(String::as_str));
        found.map(|text| Secret::from(text.to_owned())).ok_or_else(|| SecretError {
            message: format!("{key} names a secret that is not there"),
        })
    }
}

pub(crate) struct Machine {
    pub(crate) power: MachinePower,
    pub(crate) journal: SimDisk,
    pub(crate) vault: SimDisk,
    pub(crate) capacity: DiskCapacity,
    pub(crate) opened_under: Option<u32>,
    pub(crate) index: Arc<dyn Index>,
    pub(crate) boot: u32,
    pub(crate) segment_bytes: u64,
    pub(crate) key: MasterKey,
    pub(crate) dice: Dice,
}

pub(crate) struct OpenedState {
    pub(crate) shared: Arc<EngineShared>,
    pub(crate) index: Arc<dyn Index>,
}

pub(crate) struct ClientContext {
    pub(crate) router: Router,
    pub(crate) clock: SharedClock,
    pub(crate) secrets: Arc<SimSecrets>,
    pub(crate) partner: PartnerAccess,
    pub(crate) rules: PolicyRules,
}

impl Machine {
    /// Returns a machine with empty disks; the seed decides the length of journal segments.
    pub(crate) fn new(seed: u64) -> Self {
        let mut dice = Dice::new(seed, 4);
        let power = MachinePower::default();
        let room = DiskCapacity::default();
        let disk = |write, sync, change| {
            SimDisk::new(DiskCrashPoints { write, sync, change }, power.clone(), room.clone())
        };
        Self {
            journal: disk("journal.write", "journal.sync", "journal.change"),
            vault: disk("vault.write", "vault.sync", "vault.change"),
            power,
            capacity: room,
            opened_under: None,
            index: Arc::new(MemoryIndex::new()),
            boot: 0,
            segment_bytes: dice.between(8, 24).saturating_mul(1024),
            key: MasterKey::new(KEY),
            dice,
        }
    }

    /// Restarts the machine after a death. Unsynced bytes may be gone, and after a power failure
    /// the index is not trusted.
    pub(crate) fn reboot(&mut self, death: Death) {
        self.journal.reboot(death, &mut self.dice);
        self.vault.reboot(death, &mut self.dice);
        match death {
            Death::Process if self.dice.percent(80) => {}
            Death::Process => self.index = Arc::new(MemoryIndex::new()),
            Death::Power => self.boot = self.boot.saturating_add(1),
        }
    }

    pub(crate) fn assemble(&self) -> Result<AssembledState, OpenError> {
        self.assemble_on((&self.journal, &self.vault), self.index.clone(), self.boot.to_string())
    }

    /// Assembles the state on copies of the disks.
    pub(crate) fn assemble_copy(
        &self,
        disks: (&MemoryDisk, &MemoryDisk),
        index: Arc<dyn Index>,
    ) -> Result<AssembledState, OpenError> {
        self.assemble_on(disks, index, "copy".to_owned())
    }

    fn assemble_on<D: Disk + Clone + 'static>(
        &self,
        (journal, vault): (&D, &D),
        index: Arc<dyn Index>,
        boot: String,
    ) -> Result<AssembledState, OpenError> {
        let (journal, vault) = (Arc::new(journal.clone()), Arc::new(vault.clone()));
        let (rebuild, watch, segment_bytes) = (false, None, self.segment_bytes);
        let parts = StateParts { journal, vault, index, boot, rebuild, segment_bytes, watch };
        open::assemble(parts, &self.key, OpenReport::default())
    }

    pub(crate) async fn open(&mut self, outside: &ClientContext) -> Result<OpenedState, OpenError> {
        let AssembledState { journal, fold, vault, found: _ } = self.assemble()?;
        self.opened_under = Some(self.boot);
        let writer = Arc::new(Writer::inline(journal, vault.clone(), fold));
        let facts = ReadModel::new(self.index.clone());
        let binding = StateOwner {
            partner: PARTNER.to_owned(),
            client: "client".to_owned(),
            key: self.key.fingerprint(),
            epoch: 0,
            began: Some(outside.clock.now()),
        };
        open::check_owner(&writer, &facts, &binding).await?;
        let transport = Transport::InProcess {
            router: outside.router.clone(),
            wire: Arc::new(CrashWire(self.power.clone())),
        };
        let seed = self.dice.below(u64::MAX);
        let client = Client::new(service(seed, &outside.partner), transport, outside.clock.clone())
            .map_err(|_| OpenError::Foreign { what: "address" })?;
        let shared = EngineShared::new(EngineParts {
            client,
            writer,
            facts,
            vault,
            clock: outside.clock.clone(),
            secrets: outside.secrets.clone(),
            partner: Ok(outside.partner.clone()),
            settings: settings(outside.rules.clone()),
            rng: Dice::new(seed, 5).into_rng().into(),
        });
        Ok(OpenedState { shared, index: self.index.clone() })
    }

    pub(crate) fn rebuilt_digest(&self) -> Result<Digest, OpenError> {
        Ok(self.rebuilt_read_model()?.digest()?)
    }

    /// Returns the read model of a state that is rebuilt from copies of the disks alone.
    pub(crate) fn rebuilt_read_model(&self) -> Result<ReadModel, OpenError> {
        let index: Arc<dyn Index> = Arc::new(MemoryIndex::new());
        let disks = (&copy(&self.journal), &copy(&self.vault));
        self.assemble_copy(disks, index.clone())?.journal.verify()?;
        Ok(ReadModel::new(index))
    }
}

/// Returns a disk with the durable files of another disk.
pub(crate) fn copy(disk: &SimDisk) -> MemoryDisk {
    let copy = MemoryDisk::new();
    disk.each_durable(|name, bytes| {
        // An in-memory disk accepts every write.
        let _replaced = copy.replace(name, bytes);
    });
    copy
}

fn service(seed: u64, partner: &PartnerAccess) -> ServiceConfig {
    let client_id = partner.client_id.expose().to_owned();
    let client_secret = partner.client_secret.clone();
    ServiceConfig {
        base_url: "http://127.0.0.1:8700".to_owned(),
        web_url: "http://127.0.0.1:8700".to_owned(),
        timeout: TIMEOUT,
        ca_file: None,
        partner: Some(ClientCredentials { client_id, client_secret }),
        jitter_seed: seed,
    }
}

fn settings(policy: PolicyRules) -> EngineSettings {
    EngineSettings {
        planning: crate::plan::state_view::PlannerSettings {
            partner: PARTNER.to_owned(),
            digest_key: KEY,
            on_doubt: OnDoubt::Recreate,
            live_refused: None,
            prune: crate::policy::prune::PruneGuards::without_guards(),
        },
        timeout: TIMEOUT,
        grace: GRACE,
        concurrency: 4,
        failures_max: None,
        hook_time: None,
        first_look: true,
        cautious_start: false,
        policy,
    }
}
