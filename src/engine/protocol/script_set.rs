//! The set of scripts in the folder, for the engine.

use crate::base::hash::Digest;
use crate::scripting::run::hooks::Hooks;

/// A set of scripts as found in the folder.
#[derive(Debug, Clone)]
pub struct ScriptSet {
    /// The set, if it has no problems.
    pub hooks: Option<Hooks>,
    /// SHA-256 over the files as they are.
    pub files: Digest,
    /// Number of problems.
    pub problems: usize,
}
