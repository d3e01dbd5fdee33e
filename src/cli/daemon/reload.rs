//! Reload of the configuration. A change of `reckon.yaml` or of the token file, and SIGHUP, make the
//! daemon read both again.
//!
//! Guarantees: a configuration is checked whole, as at the start of the daemon. One without problems
//! replaces the present one, listeners included; any other is refused, and the present one stays in
//! use. The status names the refused one. No setting of a refused configuration is ever in use.

use std::sync::Arc;

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::base::clock::{Clock, SystemClock};
use crate::cli::args::options::Cli;
use crate::cli::commands::sandbox::command::EmbeddedSandbox;
use crate::cli::commands::signed::repository::SignedConfig;
use crate::cli::commands::store::{compaction, retention};
use crate::cli::context::open::Context;
use crate::cli::context::state_handle::{EngineOptions, StateHandle};
use crate::cli::daemon::listeners::{Listeners, Sockets};
use crate::cli::daemon::scripts::read_scripts;
use crate::cli::exit::{CommandFailure, CommandResult};
use crate::cli::print::Printer;
use crate::config::setting::{ProcessEnv, resolve_optional};
use crate::control::handle::Control;
use crate::engine::protocol::input::ScriptSet;
use crate::watch::files::FileWatch;

const PROBLEMS_MAX: usize = 3;

/// The parts of a daemon that stay for its life.
#[derive(Clone, Copy)]
pub(crate) struct DaemonParts<'a> {
    pub cli: &'a Cli,
    pub out: Printer,
    pub open: &'a StateHandle,
    pub embedded: Option<&'a EmbeddedSandbox>,
}

pub(crate) struct Configuration {
    pub setup: Arc<Context>,
    pub listeners: Listeners,
    pub scripts: ScriptSet,
}

pub(crate) struct Reloader<'a> {
    parts: DaemonParts<'a>,
    files: FileWatch,
    hangup: Option<Signal>,
    now: PresentConfiguration,
}

struct PresentConfiguration {
    setup: Arc<Context>,
    sockets: Sockets,
    control: Control,
}

impl PresentConfiguration {
    fn of(now: &Configuration) -> Self {
        let Configuration { setup, listeners, .. } = now;
        let (sockets, control) = (listeners.sockets.clone(), listeners.control.clone());
        Self { setup: setup.clone(), sockets, control }
    }
}

impl<'a> Reloader<'a> {
    pub(crate) fn new(parts: DaemonParts<'a>, files: FileWatch, now: &Configuration) -> Self {
        let hangup = signal(SignalKind::hangup()).ok();
        Self { parts, files, hangup, now: PresentConfiguration::of(now) }
    }

    pub(crate) fn follow(&mut self, now: &Configuration) {
        self.now = PresentConfiguration::of(now);
    }

    pub(crate) async fn next(&mut self) -> Configuration {
        loop {
            self.change_or_hangup().await;
            match self.read().await {
                Ok(next) => return next,
                Err(failure) => self.refuse(&failure),
            }
        }
    }

    async fn change_or_hangup(&mut self) {
        let Self { files, hangup, .. } = self;
        let hung_up = async {
            match hangup {
                Some(hangup) => hangup.recv().await,
                None => std::future::pending().await,
            }
        };
        let forced = tokio::select! {
            () = files.changed() => false,
            _ = hung_up => true,
        };
        if forced {
            files.mark_known();
        }
    }

    async fn read(&self) -> CommandResult<Configuration> {
        let setup = Arc::new(Context::load(self.parts.cli, self.parts.out)?);
        self.check(&setup).await?;
        let scripts = read_scripts(&setup)?;
        let rehearses = self.parts.embedded.is_some();
        let earlier = (&self.now.sockets, &self.now.control);
        let listeners = Listeners::open(&setup, rehearses, Some(earlier)).await?;
        Ok(Configuration { setup, listeners, scripts })
    }

    /// Checks what the start of a daemon checks, but for the listeners.
    async fn check(&self, setup: &Context) -> CommandResult<()> {
        let DaemonParts { open, embedded, .. } = self.parts;
        if setup.state != self.now.setup.state {
            return Err(fixed("state"));
        }
        let mark =
            |setup: &Context| resolve_optional(setup.config.state_mark.as_ref(), &ProcessEnv);
        if mark(setup)? != mark(&self.now.setup)? {
            return Err(fixed("state_mark"));
        }
        // Another key than that of the open state is refused here.
        setup.known_identity(&setup.existing_key()?)?;
        let base_url =
            |setup: &Context| resolve_optional(setup.config.service.base_url.as_ref(), &ProcessEnv);
        if embedded.is_some() && base_url(setup)? != base_url(&self.now.setup)? {
            return Err(fixed("service.base_url"));
        }
        let access = embedded.map(|embedded| &embedded.access);
        setup.bind(open, access).await?;
        let options = EngineOptions { embedded: access.cloned(), ..EngineOptions::default() };
        setup.engine_parts(open, options)?;
        retention(setup)?;
        compaction(setup, open)?;
        SignedConfig::of(setup)?;
        Ok(())
    }

    fn refuse(&self, failure: &CommandFailure) {
        let problem = problem_text(failure);
        let file = &self.now.setup.config.file;
        tracing::error!("{file} is not reloaded, the last valid one stays in use: {problem}");
        self.now.control.configuration_refused(SystemClock.now(), problem);
    }
}

/// Returns the failure of a setting that only a restart changes.
fn fixed(setting: &str) -> CommandFailure {
    let what = format!("`{setting}` cannot change while the daemon runs");
    CommandFailure::input("reckon::config::needs_restart", what).help("restart the daemon")
}

/// Returns a failure as one text, with the first places in the file.
fn problem_text(failure: &CommandFailure) -> String {
    let places = failure.problems.iter().take(PROBLEMS_MAX);
    let places =
        places.map(|one| format!("{}:{}:{}: {}", one.file, one.line, one.column, one.message));
    let what = failure.message.lines().next().unwrap_or_default().to_owned();
    let parts = [what].into_iter().chain(places);
    parts.chain(failure.help.clone()).collect::<Vec<_>>().join("; ")
}
