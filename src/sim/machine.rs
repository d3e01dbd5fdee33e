//! The machine of the engine: its disks, its index, and the opening of its state.

mod compacting;
mod keeping;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use serde_json::Value;

use super::dice::Dice;
use super::disk::{Places, SimDisk};
use super::front::Tap;
use super::letters;
use super::power::{Death, Power};
use super::room::Room;
use super::world::PARTNER;
use crate::base::clock::SharedClock;
use crate::base::hash::Digest;
use crate::base::id::Key;
use crate::base::secret::Secret;
use crate::client::{Client, Partner, Service, Transport};
use crate::engine::{EngineError, PartnerAccess, Parts, SecretError, Secrets, Settings, Shared};
use crate::model::manifest::OnDoubt;
use crate::model::record::Binding;
use crate::policy::Rules;
use crate::store::disk::MemoryDisk;
use crate::store::facts::{FactError, Facts};
use crate::store::index::{Index, MemoryIndex};
use crate::store::key::MasterKey;
use crate::store::open::{self, Assembled, Found, OpenError, Pieces};
use crate::store::writer::Writer;

pub(crate) use keeping::Backup;

/// Time that the engine waits for an answer.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(30);
/// Time after `TIMEOUT` within which a request may still take effect.
pub(crate) const GRACE: Duration = Duration::from_secs(30);

/// Key of every simulated state; it protects nothing.
const KEY: [u8; 32] = [7; 32];

/// Secrets by the names of the variables in the specs.
#[derive(Default)]
pub(crate) struct Drawer(pub(crate) Mutex<BTreeMap<String, String>>);

impl Drawer {
    /// Replaces all secrets with `secrets`.
    pub(crate) fn fill(&self, secrets: BTreeMap<String, String>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = secrets;
    }
}

impl Secrets for Drawer {
    fn attachment(&self, path: &str, sha256: Digest) -> Result<Vec<u8>, SecretError> {
        letters::read(path, sha256)
    }

    fn resolve(&self, source: &Value, key: &Key) -> Result<Secret, SecretError> {
        let text = |field: &str| source.get(field).and_then(Value::as_str);
        let held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = text("literal").or_else(|| held.get(text("env")?).map(String::as_str));
        found.map(|text| Secret::from(text.to_owned())).ok_or_else(|| SecretError {
            message: format!("{key} names a secret that is not there"),
        })
    }
}

pub(crate) struct Machine {
    pub(crate) power: Power,
    pub(crate) journal: SimDisk,
    pub(crate) vault: SimDisk,
    /// Free space of both disks.
    pub(super) room: Room,
    opened_under: Option<u32>,
    index: Arc<dyn Index>,
    boot: u32,
    segment_bytes: u64,
    key: MasterKey,
    dice: Dice,
}

/// An opened state, before an engine runs on it.
pub(crate) struct Open {
    /// Shared parts of the engine's tasks.
    pub(crate) shared: Arc<Shared>,
    /// Index of the state.
    pub(crate) index: Arc<dyn Index>,
}

/// Surroundings of the engine's client.
pub(crate) struct Outside {
    /// The service.
    pub(crate) router: Router,
    pub(crate) clock: SharedClock,
    pub(crate) drawer: Arc<Drawer>,
    pub(crate) partner: PartnerAccess,
    /// Limits and approval rules of the operator.
    pub(crate) rules: Rules,
}

impl Machine {
    /// Returns a machine with empty disks; the seed decides the length of journal segments.
    pub(crate) fn new(seed: u64) -> Self {
        let mut dice = Dice::new(seed, 4);
        let power = Power::default();
        let room = Room::default();
        let disk = |write, sync, change| {
            SimDisk::new(Places { write, sync, change }, power.clone(), room.clone())
        };
        Self {
            journal: disk("journal.write", "journal.sync", "journal.change"),
            vault: disk("vault.write", "vault.sync", "vault.change"),
            power,
            room,
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

    fn assemble(&self) -> Result<Assembled, OpenError> {
        let pieces = Pieces {
            journal: Arc::new(self.journal.clone()),
            vault: Arc::new(self.vault.clone()),
            index: self.index.clone(),
            boot: self.boot.to_string(),
            rebuild: false,
            watch: None,
            segment_bytes: self.segment_bytes,
        };
        open::assemble(pieces, &self.key, Found::default())
    }

    /// Opens the state and assembles the parts that an engine needs.
    pub(crate) async fn open(&mut self, outside: &Outside) -> Result<Open, OpenError> {
        let Assembled { journal, fold, vault, found: _ } = self.assemble()?;
        self.opened_under = Some(self.boot);
        let writer = Arc::new(Writer::inline(journal, vault.clone(), fold));
        let facts = Facts::new(self.index.clone());
        let binding = Binding {
            partner: PARTNER.to_owned(),
            client: "client".to_owned(),
            key: self.key.fingerprint(),
            epoch: 0,
            began: Some(outside.clock.now()),
        };
        open::bind(&writer, &facts, &binding).await?;
        let transport = Transport::InProcess {
            router: outside.router.clone(),
            wire: Arc::new(Tap(self.power.clone())),
        };
        let seed = self.dice.below(u64::MAX);
        let client = Client::new(service(seed, &outside.partner), transport, outside.clock.clone())
            .map_err(|error| EngineError::Bug(error.to_string()));
        let client = client.map_err(|_| OpenError::Foreign { what: "address" })?;
        let shared = Shared::new(Parts {
            client,
            writer,
            facts,
            vault,
            clock: outside.clock.clone(),
            secrets: outside.drawer.clone(),
            partner: Ok(outside.partner.clone()),
            settings: settings(outside.rules.clone()),
            rng: Dice::new(seed, 5).into_rng(),
        });
        Ok(Open { shared, index: self.index.clone() })
    }

    /// Returns the digest of a state that is rebuilt from the disks alone.
    pub(crate) fn rebuilt(&self) -> Result<Digest, OpenError> {
        let digest: Result<_, FactError> = self.read_anew()?.digest();
        Ok(digest?)
    }

    /// Returns the read model of a state that is rebuilt from copies of the disks alone.
    pub(crate) fn read_anew(&self) -> Result<Facts, OpenError> {
        let index: Arc<dyn Index> = Arc::new(MemoryIndex::new());
        let pieces = Pieces {
            journal: Arc::new(copy(&self.journal)),
            vault: Arc::new(copy(&self.vault)),
            index: index.clone(),
            boot: "copy".to_owned(),
            rebuild: false,
            watch: None,
            segment_bytes: self.segment_bytes,
        };
        let assembled = open::assemble(pieces, &self.key, Found::default())?;
        assembled.journal.verify()?;
        Ok(Facts::new(index))
    }

    /// Returns the dice of the machine.
    pub(crate) fn dice(&mut self) -> &mut Dice {
        &mut self.dice
    }
}

/// Returns a disk with the durable files of another disk.
pub(crate) fn copy(disk: &SimDisk) -> MemoryDisk {
    use crate::store::disk::Disk as _;
    let copy = MemoryDisk::new();
    disk.each_durable(|name, bytes| {
        // An in-memory disk accepts every write.
        let _replaced = copy.replace(name, bytes);
    });
    copy
}

fn service(seed: u64, partner: &PartnerAccess) -> Service {
    let partner = Partner {
        client_id: partner.client_id.expose().to_owned(),
        client_secret: partner.client_secret.clone(),
    };
    Service {
        base_url: "http://127.0.0.1:8700".to_owned(),
        web_url: "http://127.0.0.1:8700".to_owned(),
        timeout: TIMEOUT,
        ca_file: None,
        partner: Some(partner),
        jitter_seed: seed,
    }
}

fn settings(policy: Rules) -> Settings {
    Settings {
        planning: crate::plan::Settings {
            partner: PARTNER.to_owned(),
            digest_key: KEY,
            on_doubt: OnDoubt::Recreate,
            live_refused: None,
            prune: crate::policy::prune::Prune::open(),
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
