//! The key of the state: configured, or in a file beside the state. Only who makes a state makes a key.

use std::path::{Path, PathBuf};

use super::{Setup, make_dir};
use crate::cli::exit::Failure;
use crate::cli::host;
use crate::config::ProcessEnv;
use crate::http::Outside;
use crate::store::key::{KEY_FILE, MasterKey};

impl Setup {
    /// Returns the key of the state, from the configuration or the file beside the state. Makes the state's folder, and a
    /// key file for a state that has no keys yet.
    pub(in crate::cli) fn made_key(&self) -> Result<MasterKey, Failure> {
        make_dir(&self.state)?;
        let made = self.config.secrets.key.is_some();
        if made || self.state.join("vault").join("keys").exists() {
            return self.known_key();
        }
        let made = MasterKey::read_or_make_file(&self.key_file(), &mut host::rng()?);
        made.map_err(|error| Failure::environment("reckon::state::key", error))
    }

    /// Returns the same key, which has to be there: none is made.
    pub(in crate::cli) fn known_key(&self) -> Result<MasterKey, Failure> {
        if let Some(setting) = &self.config.secrets.key {
            let bytes = setting.get(&ProcessEnv)?;
            let bytes =
                bytes.expose().try_into().map_err(|_| Failure::bug("a key of another length"))?;
            return Ok(MasterKey::new(bytes));
        }
        let path = self.key_file();
        let found = MasterKey::read_file(&path)
            .map_err(|error| Failure::environment("reckon::state::key", error))?;
        found.ok_or_else(|| {
            let (state, path) = (self.state.display(), path.display());
            let what = format!("the state {state} has no key: {path} is missing");
            Failure::environment("reckon::state::key_missing", what)
                .help("put the key file back, or set secrets.key in reckon.yaml")
        })
    }

    /// The key file beside the state.
    pub(super) fn key_file(&self) -> PathBuf {
        let absolute = std::path::absolute(&self.state).unwrap_or_else(|_| self.state.clone());
        absolute.parent().unwrap_or(Path::new(".")).join(KEY_FILE)
    }

    /// Opens the paths that face the world, with the key that is there.
    pub(in crate::cli) fn outside(&self) -> Result<Outside, Failure> {
        Ok(Outside::new(&self.known_key()?.derive("digest")))
    }

    /// The key that is configured, or that is there already.
    pub(super) fn key_at_hand(&self) -> Result<Option<MasterKey>, Failure> {
        let there = self.config.secrets.key.is_some() || self.key_file().exists();
        there.then(|| self.known_key()).transpose()
    }
}
