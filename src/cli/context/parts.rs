//! Parts that a context makes on request: a state where there is none, the key of a state, and the
//! client of the service, of the configuration or of an embedded sandbox.
//!
//! Only `apply`, `run`, `init --empty-remote`, `store restore`, `approve` and `suspend` make a state
//! and its key (docs/operations/store.md). Every other command shows an empty state or refuses, and
//! leaves neither a state nor a key behind. The identity of a state stays the same under any key.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Once};

use rand_core::Rng;

use crate::base::folder::{PathError, open_file};
use crate::base::wording::nearest;
use crate::cli::context::git::tree::TempTree;
use crate::cli::context::open::Context;
use crate::cli::context::state_handle::{Embedded, StateHandle, clock, make_dir};
use crate::cli::context::{machine, state_handle};
use crate::cli::exit::{CommandFailure, CommandResult};
use crate::cli::print::print_note;
use crate::client::request::{ClientCredentials, ServiceConfig};
use crate::client::service_client::Client;
use crate::client::transport::Transport;
use crate::config::setting::{ProcessEnv, resolve_optional};
use crate::engine::handles::shared::PartnerAccess;
use crate::http::public::public_routes::PublicRoutes;
use crate::store::disk::directory::RealDisk;
use crate::store::disk::traits::Disk;
use crate::store::error::OpenError;
use crate::store::state::open::{OpenState, RESTORING, StateOptions};
use crate::store::state::rekey::KeyFile;
use crate::store::vault::key::MasterKey;
use crate::store::vault::keys::{KEYS_FILE, state_identity};
use crate::store::vault::wrapping::Identity;

const PARTS: [&str; 4] = ["journal", "sled", "vault", RESTORING];
const PEM_BYTES_MAX: u64 = 1 << 20;

/// Guard of the notes about an absent state: a command that asks several times prints them once.
static ABSENCE_NOTED: Once = Once::new();

impl Context {
    /// Opens the state for a view. Where there is none, uses an empty temporary one that ends with
    /// this process.
    ///
    /// # Errors
    /// The command line names a folder that holds no state, or the state cannot be opened.
    pub(crate) async fn view_state(&self) -> CommandResult<StateHandle> {
        if self.server.is_some() || self.has_state()? {
            return self.open_state(false).await;
        }
        if self.state_named {
            return Err(self.absent("there is no state"));
        }
        let has_key = self.key_if_exists()?.is_some();
        ABSENCE_NOTED.call_once(|| self.note_absence(has_key));
        self.temporary_state()
    }

    fn note_absence(&self, has_key: bool) {
        let dir = self.state.display();
        print_note(&format!(
            "note: there is no state at {dir} yet; showing an empty one, without creating it"
        ));
        if !has_key {
            print_note(
                "note: there is no key yet either; the checksum of the plan changes once there is \
                one",
            );
        }
    }

    pub(crate) fn require_state(&self) -> CommandResult<()> {
        if self.has_state()? { Ok(()) } else { Err(self.absent("there is no state")) }
    }

    /// Returns an empty temporary state, under the key that a state made later will have.
    ///
    /// # Errors
    /// The command line names a folder that holds no state, or there is no key yet.
    pub(crate) fn future_state(&self) -> CommandResult<StateHandle> {
        if !self.state_named && self.key_if_exists()?.is_none() {
            return Err(self.absent("there is no state, and no key for a new one,"));
        }
        self.draft_state()
    }

    /// Returns the same as [`Self::future_state`], also without a key: nothing rests on the key.
    pub(crate) fn draft_state(&self) -> CommandResult<StateHandle> {
        if self.state_named {
            Err(self.absent("there is no state"))
        } else {
            self.temporary_state()
        }
    }

    /// Returns true if there is a state, or the mark of a lost one.
    pub(crate) fn has_state(&self) -> CommandResult<bool> {
        let marks =
            std::fs::read_dir(state_handle::mark_settings(&self.config, &self.state)?.folder);
        Ok(is_state(&self.state) || marks.is_ok_and(|mut marks| marks.next().is_some()))
    }

    pub(crate) fn absent(&self, what: &str) -> CommandFailure {
        let what = format!("{what} at {}", self.state.display());
        let help = match self.nearest_state() {
            Some(near) => format!("did you mean --state {}?", near.display()),
            None => "create a state there with `reckon apply` or `reckon run`".to_owned(),
        };
        CommandFailure::input("reckon::state::absent", what).help(help)
    }

    /// Returns the state of the most similar name, else the one of the configuration.
    fn nearest_state(&self) -> Option<PathBuf> {
        let folder = self.state.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let states = entries.filter(|entry| is_state(&entry.path()));
        let names: Vec<String> =
            states.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        let wanted = self.state.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let name = nearest(wanted, names.iter().map(String::as_str));
        let own = || self.config.state.get(&ProcessEnv).ok().filter(|own| is_state(own));
        name.map(|name| self.state.with_file_name(name)).or_else(own)
    }

    /// Returns an empty state in a temporary folder, under the existing key or a random one.
    fn temporary_state(&self) -> CommandResult<StateHandle> {
        let mut bytes = [0; 32];
        machine::rng()?.fill_bytes(&mut bytes);
        let key = &self.key_if_exists()?.unwrap_or_else(|| MasterKey::new(bytes));
        let folder = TempTree::make()?;
        let options = StateOptions {
            dir: folder.specs.clone(),
            owner: machine::owner(),
            boot: machine::boot_id(),
            rebuild: false,
            marking: None,
        };
        let state = OpenState::open(&options, key)?;
        Ok(StateHandle::of(state, Some(folder)))
    }

    /// Returns the state's key. Makes the folder, and a key file for a state that has no keys yet.
    pub(crate) fn key_or_make(&self) -> CommandResult<MasterKey> {
        make_dir(&self.state)?;
        if self.config.secrets.key.is_some() || self.state.join("vault").join(KEYS_FILE).exists() {
            return self.existing_key();
        }
        let file = KeyFile::of(&self.state);
        let made = MasterKey::read_or_create_file(file.path(), &mut machine::rng()?);
        made.map_err(|error| CommandFailure::environment("reckon::state::key", error))
    }

    /// Returns the same key, which must exist: none is made.
    pub(crate) fn existing_key(&self) -> CommandResult<MasterKey> {
        if let Some(setting) = &self.config.secrets.key {
            let bytes = setting.get(&ProcessEnv)?;
            let wrong = |_| CommandFailure::bug("internal error: the key has another length");
            return Ok(MasterKey::new(bytes.0.expose().try_into().map_err(wrong)?));
        }
        let file = KeyFile::of(&self.state);
        let found = file.read();
        let found =
            found.map_err(|error| CommandFailure::environment("reckon::state::key", error))?;
        found.ok_or_else(|| {
            let (state, path) = (self.state.display(), file.path().display());
            let what = format!("the state {state} has no key: {path} is missing");
            CommandFailure::environment("reckon::state::key_missing", what)
                .help("put the key file back, or set secrets.key in reckon.yaml")
        })
    }

    /// Returns the key that is configured, or the one in the key file, if either exists.
    pub(crate) fn key_if_exists(&self) -> CommandResult<Option<MasterKey>> {
        let there = self.config.secrets.key.is_some() || KeyFile::of(&self.state).path().exists();
        there.then(|| self.existing_key()).transpose()
    }

    /// Returns the key file beside the state, where the configuration does not give the key.
    pub(crate) fn own_key_file(&self) -> Option<KeyFile> {
        self.config.secrets.key.is_none().then(|| KeyFile::of(&self.state))
    }

    /// Returns the public routes, whose addresses are derived from the existing key's identity.
    pub(crate) fn public_routes(&self) -> CommandResult<PublicRoutes> {
        if let Some(known) = self.identity.get() {
            return Ok(PublicRoutes::new(&known.digest_key()));
        }
        Ok(PublicRoutes::new(&self.known_identity(&self.existing_key()?)?.digest_key()))
    }

    /// Reads the identity of the state; a state that is not made yet gets the identity of its key.
    pub(crate) fn known_identity(&self, key: &MasterKey) -> CommandResult<Identity> {
        let vault = self.state.join("vault");
        if !vault.join(KEYS_FILE).exists() {
            return Ok(Identity::of(key));
        }
        let disk = RealDisk::open(&vault);
        let disk = disk.map_err(|source| OpenError::Io { dir: vault, source })?;
        let known = state_identity(&disk, key).map_err(OpenError::from)?;
        Ok(self.identity.get_or_init(|| known).clone())
    }

    pub(crate) fn disk(&self, part: &str) -> CommandResult<Arc<dyn Disk>> {
        let path = self.state.join(part);
        let opened = RealDisk::open(&path).map_err(|error| {
            let what = format!("open {}: {error}", path.display());
            CommandFailure::environment("reckon::state::dir", what)
        })?;
        Ok(Arc::new(opened))
    }

    /// Opens the folder of records that a compaction replaced; `None` where there is none.
    pub(crate) fn archive_disk(&self) -> CommandResult<Option<Arc<dyn Disk>>> {
        self.state.join("archive").is_dir().then(|| self.disk("archive")).transpose()
    }

    pub(crate) fn client(
        &self,
        embedded: Option<&Embedded>,
        partner: Option<&PartnerAccess>,
    ) -> CommandResult<Client> {
        let config = &self.config.service;
        let url = |path, setting| self.config.require(path, setting, &ProcessEnv);
        let (base_url, web_url, ca_file) = if let Some(embedded) = embedded {
            (embedded.base_url.clone(), embedded.base_url.clone(), embedded.ca.clone())
        } else {
            let base = url("service.base_url", config.base_url.as_ref())?.as_str().to_owned();
            let web = resolve_optional(config.web_url.as_ref(), &ProcessEnv)?;
            let web = web.map_or_else(|| base.clone(), |web| web.as_str().to_owned());
            (base, web, self.ca()?)
        };
        let partner = partner.map(|partner| ClientCredentials {
            client_id: partner.client_id.expose().to_owned(),
            client_secret: partner.client_secret.clone(),
        });
        let timeout = config.timeout.get(&ProcessEnv)?;
        let jitter_seed = machine::seed()?;
        let service = ServiceConfig { base_url, web_url, timeout, ca_file, partner, jitter_seed };
        let failed = |error| CommandFailure::environment("reckon::service", error);
        let transport = Transport::http(&service).map_err(failed)?;
        Client::new(service, transport, clock(embedded)).map_err(failed)
    }

    /// Reads the extra authority's certificate, PEM. A missing file counts as none: the sandbox
    /// writes the file when it first starts, and a call without it fails with a message of its own.
    fn ca(&self) -> CommandResult<Option<Vec<u8>>> {
        let Some(setting) = &self.config.service.ca_file else { return Ok(None) };
        let path = setting.get(&ProcessEnv)?;
        match pem(&path) {
            Ok(pem) => Ok(Some(pem)),
            Err(error) if error.is_absent() => Ok(None),
            Err(error) => {
                let what = format!("service.ca_file {}: {error}", path.display());
                Err(CommandFailure::environment("reckon::service::ca_file", what))
            }
        }
    }
}

/// Returns true if a folder holds a state, or a part of one.
fn is_state(dir: &Path) -> bool {
    PARTS.iter().any(|part| dir.join(part).exists())
}

pub(crate) fn pem(path: &Path) -> Result<Vec<u8>, PathError> {
    let mut pem = Vec::new();
    open_file(path)?.take(PEM_BYTES_MAX).read_to_end(&mut pem)?;
    Ok(pem)
}
