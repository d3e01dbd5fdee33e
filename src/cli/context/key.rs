//! The key of a state: its source, and the identity that the state keeps under any key. Only a
//! command that makes a state makes a key.

use super::machine;
use super::open::Context;
use super::state_handle::make_dir;
use crate::cli::exit::CommandFailure;
use crate::config::setting::ProcessEnv;
use crate::http::public::public_routes::PublicRoutes;
use crate::store::disk::real::RealDisk;
use crate::store::state::error::OpenError;
use crate::store::vault::key::MasterKey;
use crate::store::vault::key_file::KeyFile;
use crate::store::vault::keys::{FILE as KEYS_FILE, identity};
use crate::store::vault::wrapping::Identity;

impl Context {
    /// Returns the key of the state, from the configuration or the file beside the state. Makes the
    /// state's folder, and a key file for a state that has no keys yet.
    pub(crate) fn key_or_make(&self) -> Result<MasterKey, CommandFailure> {
        make_dir(&self.state)?;
        let made = self.config.secrets.key.is_some();
        if made || self.state.join("vault").join(KEYS_FILE).exists() {
            return self.existing_key();
        }
        let file = KeyFile::of(&self.state);
        let made = MasterKey::read_or_create_file(file.path(), &mut machine::rng()?);
        made.map_err(|error| CommandFailure::environment("reckon::state::key", error))
    }

    /// Returns the same key, which must exist: none is made.
    pub(crate) fn existing_key(&self) -> Result<MasterKey, CommandFailure> {
        if let Some(setting) = &self.config.secrets.key {
            let bytes = setting.get(&ProcessEnv)?;
            let bytes = bytes
                .expose()
                .try_into()
                .map_err(|_| CommandFailure::bug("internal error: the key has another length"))?;
            return Ok(MasterKey::new(bytes));
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
    pub(crate) fn key_if_exists(&self) -> Result<Option<MasterKey>, CommandFailure> {
        let there = self.config.secrets.key.is_some() || KeyFile::of(&self.state).path().exists();
        there.then(|| self.existing_key()).transpose()
    }

    /// Returns the key file beside the state, where the configuration does not give the key.
    pub(crate) fn own_key_file(&self) -> Option<KeyFile> {
        self.config.secrets.key.is_none().then(|| KeyFile::of(&self.state))
    }

    /// Returns the public routes, whose addresses are derived from the existing key's identity.
    pub(crate) fn public_routes(&self) -> Result<PublicRoutes, CommandFailure> {
        if let Some(known) = self.identity.get() {
            return Ok(PublicRoutes::new(&known.digest_key()));
        }
        let known = self.known_identity(&self.existing_key()?)?;
        Ok(PublicRoutes::new(&known.digest_key()))
    }

    /// Reads the identity of the state; a state that is not made yet gets the identity of its key.
    fn known_identity(&self, key: &MasterKey) -> Result<Identity, CommandFailure> {
        let vault = self.state.join("vault");
        if !vault.join(KEYS_FILE).exists() {
            return Ok(Identity::of(key));
        }
        let disk = RealDisk::open(&vault);
        let disk = disk.map_err(|source| OpenError::Io { dir: vault, source })?;
        let known = identity(&disk, key).map_err(OpenError::from)?;
        Ok(self.identity.get_or_init(|| known).clone())
    }
}
