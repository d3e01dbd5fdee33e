//! An open state with its identity, and the options with which the engine is built on it.

use std::path::Path;
use std::sync::Arc;

use super::git::tree::TempTree;
use super::open::Embedded;
use crate::cli::output::exit::CommandFailure;
use crate::engine::core::handles::SecretResolver;
use crate::http::public::public_routes::PublicRoutes;
use crate::store::disk::private::private_dir;
use crate::store::state::open::OpenState;
use crate::store::vault::wrapping::Identity;

/// Options of the engine.
#[derive(Default)]
pub(crate) struct EngineOptions {
    /// The embedded sandbox, where it replaces the service.
    pub embedded: Option<Embedded>,
    /// Source of secrets, if not the environment and files.
    pub secrets: Option<Arc<dyn SecretResolver>>,
    /// True if a failing resource is tried for ever, as in the daemon.
    pub keep_trying: bool,
}

/// An open state, and its identity.
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
pub(crate) fn make_dir(dir: &Path) -> Result<(), CommandFailure> {
    private_dir(dir).map_err(|error| {
        CommandFailure::environment(
            "reckon::state::dir",
            format!("make {}: {error}", dir.display()),
        )
    })
}
