//! Handling of an absent state. Only `apply`, `run`, `init --empty-remote`, `store restore`,
//! `approve` and `suspend` make one (docs/operations/store.md). Every other command shows an empty one or
//! refuses, and leaves neither a state nor a key behind.

use std::path::{Path, PathBuf};

use rand_core::Rng;

use super::git::tree::TempTree;
use super::open::Context;
use super::state_handle::StateHandle;
use super::{machine, state_handle};
use crate::base::wording::nearest;
use crate::cli::exit::CommandFailure;
use crate::cli::print::print_note;
use crate::config::setting::ProcessEnv;
use crate::store::state::open::{OpenState, RESTORING, StateOptions};
use crate::store::vault::key::MasterKey;

/// Names in a folder that is a state, or was one.
const PARTS: [&str; 4] = ["journal", "sled", "vault", RESTORING];

impl Context {
    /// Opens the state for a view. Where there is none, uses an empty temporary one that ends with
    /// this process.
    ///
    /// # Errors
    /// The command line names a folder that holds no state, or the state cannot be opened.
    pub(crate) async fn view_state(&self) -> Result<StateHandle, CommandFailure> {
        if self.server.is_some() || self.has_state()? {
            return self.open_state(false).await;
        }
        if self.state_named {
            return Err(self.absent("there is no state"));
        }
        let dir = self.state.display();
        print_note(&format!(
            "note: there is no state at {dir} yet; showing an empty one, without creating it"
        ));
        if self.key_if_exists()?.is_none() {
            print_note(
                "note: there is no key yet either; the checksum of the plan changes once there is \
                one",
            );
        }
        self.temporary_state()
    }

    /// Fails if there is no state.
    pub(crate) fn require_state(&self) -> Result<(), CommandFailure> {
        if self.has_state()? { Ok(()) } else { Err(self.absent("there is no state")) }
    }

    /// Returns an empty temporary state, under the key that a state made later will have.
    ///
    /// # Errors
    /// The command line names a folder that holds no state, or there is no key yet.
    pub(crate) fn future_state(&self) -> Result<StateHandle, CommandFailure> {
        if !self.state_named && self.key_if_exists()?.is_none() {
            return Err(self.absent("there is no state, and no key for a new one,"));
        }
        self.draft_state()
    }

    /// Returns the same as [`Self::future_state`], also where there is no key yet: nothing rests on
    /// the key.
    pub(crate) fn draft_state(&self) -> Result<StateHandle, CommandFailure> {
        if self.state_named {
            Err(self.absent("there is no state"))
        } else {
            self.temporary_state()
        }
    }

    /// Returns true if there is a state, or the mark of a lost one.
    pub(crate) fn has_state(&self) -> Result<bool, CommandFailure> {
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

    /// Returns an empty state in a temporary folder, under the existing key, else under a random
    /// one.
    fn temporary_state(&self) -> Result<StateHandle, CommandFailure> {
        let mut bytes = [0; 32];
        machine::rng()?.fill_bytes(&mut bytes);
        let key = &self.key_if_exists()?.unwrap_or_else(|| MasterKey::new(bytes));
        let folder = TempTree::make()?;
        let state = OpenState::open(
            &StateOptions {
                dir: folder.specs().to_owned(),
                owner: machine::owner(),
                boot: machine::boot_id(),
                rebuild: false,
                marking: None,
            },
            key,
        )?;
        Ok(StateHandle::of(state, Some(folder)))
    }
}

/// Returns true if a folder holds a state, or a part of one.
fn is_state(dir: &Path) -> bool {
    PARTS.iter().any(|part| dir.join(part).exists())
}
