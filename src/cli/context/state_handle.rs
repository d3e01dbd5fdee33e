//! An open state with its identity, the mark of the state with the messages about it, and the
//! options with which the engine is built on the state.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rand_core::Rng;

use crate::base::clock::{Clock, SharedClock, SystemClock};
use crate::cli::context::git::tree::TempTree;
use crate::cli::context::machine;
use crate::cli::exit::{CommandFailure, CommandResult};
use crate::cli::print::print_note;
use crate::config::setting::{ProcessEnv, resolve_optional};
use crate::config::settings::Config;
use crate::engine::handles::shared::{PartnerAccess, SecretResolver};
use crate::http::public::public_routes::PublicRoutes;
use crate::store::disk::directory::private_dir;
use crate::store::error::{OpenReport, RollbackDetected};
use crate::store::state::open::OpenState;
use crate::store::state::rollback::MarkOptions;
use crate::store::vault::wrapping::Identity;

/// Partner application, address and clock of an embedded sandbox, in place of the configured ones.
#[derive(Debug, Clone)]
pub(crate) struct Embedded {
    pub partner: PartnerAccess,
    pub base_url: String,
    /// The sandbox's certificate authority, PEM.
    pub ca: Option<Vec<u8>>,
    pub clock: SharedClock,
}

/// Returns the clock: the embedded sandbox's, for rehearsals of waiting steps, or the system's.
pub(crate) fn clock(embedded: Option<&Embedded>) -> SharedClock {
    match embedded {
        Some(embedded) => embedded.clock.clone(),
        None => Arc::new(SystemClock),
    }
}

#[derive(Default)]
pub(crate) struct EngineOptions {
    pub embedded: Option<Embedded>,
    /// Source of secrets, if not the environment and files.
    pub secrets: Option<Arc<dyn SecretResolver>>,
    /// True if a failing resource is tried for ever, as in the daemon.
    pub keep_trying: bool,
}

#[derive(Debug)]
pub(crate) struct StateHandle {
    pub state: OpenState,
    pub(crate) identity: Identity,
    /// The folder of a temporary state, removed on drop.
    pub(crate) _temporary: Option<TempTree>,
}

impl StateHandle {
    /// Returns the public routes, which derive their addresses from the state's identity.
    pub(crate) fn public_routes(&self) -> PublicRoutes {
        PublicRoutes::new(&self.identity.digest_key())
    }

    pub(crate) fn of(state: OpenState, stand_in: Option<TempTree>) -> Self {
        let identity = state.vault.identity();
        Self { state, identity, _temporary: stand_in }
    }
}

/// Makes a folder that only its owner can enter, or restricts an existing one to its owner.
pub(crate) fn make_dir(dir: &Path) -> CommandResult<()> {
    private_dir(dir).map_err(|error| {
        let what = format!("make {}: {error}", dir.display());
        CommandFailure::environment("reckon::state::dir", what)
    })
}

/// Returns the settings of the state's mark, whose folder is configured, or beside the state.
pub(crate) fn mark_settings(config: &Config, state: &Path) -> CommandResult<MarkOptions> {
    let named = resolve_optional(config.state_mark.as_ref(), &ProcessEnv)?;
    let mut fresh = [0; 16];
    machine::rng()?.fill_bytes(&mut fresh);
    Ok(MarkOptions {
        required: named.is_some(),
        folder: named.unwrap_or_else(|| default_folder(state)),
        fresh,
        at: SystemClock.now(),
        actor: machine::actor(),
    })
}

/// Returns the default folder, such as `.reckon.mark` beside `.reckon`.
fn default_folder(state: &Path) -> PathBuf {
    let absolute = std::path::absolute(state).unwrap_or_else(|_| state.to_owned());
    let mut name = absolute.file_name().unwrap_or_default().to_owned();
    name.push(".mark");
    absolute.with_file_name(name)
}

pub(crate) fn print_finding(found: &OpenReport) {
    if let Some(RollbackDetected { marked, head, epoch }) = &found.put_back {
        print_note(&format!(
            "warning: this state was put back: it ends at record {head}, but its mark names \
            record {marked}. Epoch {epoch} began: reckon reads every merchant again, looks for \
            each effect that may have been sent since before sending it, and holds effects that \
            cannot be looked for (`reckon store release` ends that)"
        ));
    }
    if let Some(why) = &found.unmarked {
        print_note(&format!("note: {why}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_state_has_a_folder_beside_it() {
        assert_eq!(default_folder(Path::new("/work/.reckon")), Path::new("/work/.reckon.mark"));
        assert_eq!(default_folder(Path::new("/data/state/")), Path::new("/data/state.mark"));
    }
}
