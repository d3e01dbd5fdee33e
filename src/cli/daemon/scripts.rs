//! The scripts of a daemon: read and checked at its start, and again whenever their folder changes.

use std::future::Future;
use std::sync::Arc;

use tokio::sync::mpsc;

use crate::base::hash::Digest;
use crate::cli::commands::hooks;
use crate::cli::context::open::Context;
use crate::cli::exit::CommandResult;
use crate::config::setting::ProcessEnv;
use crate::engine::protocol::input::{EngineInput, ScriptSet};
use crate::model::issue::Severity;
use crate::watch::tree;

/// Pending hints of changed files, at most; further hints add nothing.
const HINTS_MAX: usize = 8;

pub(crate) fn read_scripts(setup: &Context) -> CommandResult<ScriptSet> {
    let folder = hooks::folder(setup)?;
    let (hooks, problems) = hooks::load(setup, &folder)?;
    let wrong = problems.iter().filter(|problem| problem.severity == Severity::Error).count();
    Ok(ScriptSet { hooks, files: folder.digest(), problems: wrong })
}

/// Reads the scripts again whenever the folder changes, until the daemon ends.
pub(crate) async fn watch_scripts(
    setup: Arc<Context>,
    mut known: Digest,
    engine: mpsc::Sender<EngineInput>,
    over: impl Future<Output = ()>,
) {
    let Ok(root) = setup.config.scripts.get(&ProcessEnv) else { return };
    let (sender, mut hints) = mpsc::channel(HINTS_MAX);
    let watching = tree::watch(root, sender, over);
    let looking = async {
        while hints.recv().await.is_some() {
            match read_scripts(&setup) {
                Ok(found) if found.files != known => {
                    known = found.files;
                    if engine.send(EngineInput::Scripts(Box::new(found))).await.is_err() {
                        return;
                    }
                }
                Ok(_) => {}
                Err(failure) => tracing::error!("{}", failure.message),
            }
        }
    };
    let (ended, ()) = tokio::join!(watching, looking);
    if let Err(error) = ended {
        tracing::error!("{error}");
    }
}
