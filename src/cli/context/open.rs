//! Context of a command: the configuration, read at first use, and the parts made from it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::base::folder_location::FolderLocation;
use crate::base::hash::keyed_digest;
use crate::base::secret::Secret;
use crate::cli::args::options::Cli;
use crate::cli::context::git::program;
use crate::cli::context::secrets::OpenedSecrets;
use crate::cli::context::spec_folders::SpecFolders;
use crate::cli::context::state_handle::{Embedded, EngineOptions, StateHandle, clock};
use crate::cli::context::{machine, state_handle};
use crate::cli::exit::{CommandFailure, CommandResult, WAY_ON, local_only};
use crate::cli::print::Printer;
use crate::cli::remote::{self, ServerClient};
use crate::config::setting::{ConfigError, ProcessEnv, resolve_optional};
use crate::config::settings::{Config, FILE_NAME};
use crate::engine::handles::shared::{
    EngineParts, EngineSettings, EngineShared, PartnerAccess, SecretError,
};
use crate::kinds::register::KINDS;
use crate::kinds::schema::kind::{AttachmentFiles, CheckCx, Stamp};
use crate::model::record::StateOwner;
use crate::plan::state_view;
use crate::spec::document::ReadContext;
use crate::spec::tree::attachments::AttachmentFolder;
use crate::spec::tree::loader::Loader;
use crate::store::state::open::{OpenState, StateOptions};
use crate::store::vault::wrapping::Identity;

/// Calls in flight at once.
const CONCURRENCY: usize = 16;
/// Failures in a row after which a command gives a resource up; the daemon never does.
const FAILURES_MAX: u32 = 6;

/// A configuration, the places it names, and the streams of the command.
#[derive(Debug)]
pub(crate) struct Context {
    pub out: Printer,
    pub config: Config,
    pub root: PathBuf,
    pub specs: SpecFolders,
    pub state: PathBuf,
    /// The named daemon elsewhere: then nothing of the state is on this machine.
    pub server: Option<ServerClient>,
    pub check: CheckCx,
    /// True if the operator named the configuration.
    config_named: bool,
    /// True if the command line named the state.
    pub(crate) state_named: bool,
    /// The identity of the state, once known; an exchange of the key leaves it unchanged.
    pub(crate) identity: OnceLock<Identity>,
}

impl Context {
    pub(crate) fn load(cli: &Cli, out: Printer) -> CommandResult<Self> {
        let file = cli.global.config.clone().unwrap_or_else(|| PathBuf::from(FILE_NAME));
        let server = remote::server_of_args(cli)?;
        let config = remote::load_config(server.as_ref(), cli, &file)?;
        let specs = SpecFolders::of(&config)?;
        let state = match &cli.global.state {
            Some(dir) => dir.clone(),
            None => config.state.get(&ProcessEnv)?,
        };
        let check = remote::check_context(server.as_ref(), &config)?;
        let setup = Self {
            out,
            root: config.dir.to_path_buf(),
            config,
            specs,
            state,
            server,
            check,
            config_named: cli.global.config.is_some(),
            state_named: cli.global.state.is_some(),
            identity: OnceLock::new(),
        };
        let renders = !setup.config.render.is_empty();
        let refused = if renders { setup.refused_place() } else { None };
        let specs = setup.specs.clone().with_render(&setup.config, refused)?;
        Ok(Self { specs, ..setup })
    }

    /// Returns the commit checked out in all folders of specs; a folder that is a link has none.
    pub(crate) fn commit(&self) -> Option<String> {
        program::commit_of(&self.specs.roots())
    }

    /// Returns a loader that has read the whole tree.
    pub(crate) fn loaded_tree(&self) -> Loader {
        let mut loader = self.new_loader();
        loader.load_all();
        loader
    }

    /// Returns a loader of the tree that has read nothing yet.
    pub(crate) fn new_loader(&self) -> Loader {
        let cx = ReadContext { kinds: KINDS, check: self.check.clone() };
        Loader::new(self.specs.roots(), &self.specs.prefix(""), cx)
    }

    /// Returns a loader of the tree at a revision, in `folders`; `files` replaces the folder of
    /// attachments.
    pub(crate) fn loader_of(
        &self,
        folders: &[PathBuf],
        revision: &str,
        files: Option<Arc<dyn AttachmentFiles>>,
    ) -> Loader {
        let before = format!("{revision}:");
        let mut check = self.check.clone();
        check.files = files.or(check.files);
        let cx = ReadContext { kinds: KINDS, check };
        let roots = self.specs.roots_at(folders, &before);
        Loader::new(roots, &self.specs.prefix(&before), cx)
    }

    pub(crate) fn attachments_path(&self) -> CommandResult<Option<PathBuf>> {
        Ok(resolve_optional(self.config.secrets.attachments.as_ref(), &ProcessEnv)?)
    }

    /// Returns the reason for which live merchants are refused, if they are. Live money moves only
    /// under a configuration that the operator chose. Specs come by pull request, and so can a file
    /// that was merely found, or one in their work tree (design.md part 5).
    pub(crate) fn live_refused(&self) -> Option<String> {
        let why = self.refused_place()?;
        let file = &self.config.file;
        Some(format!(
            "it is live, but {file} {why}: keep {file} outside the repository of the specs and \
            name it with --config FILE"
        ))
    }

    /// Returns the reason for which the configuration may not decide about live money and programs.
    fn refused_place(&self) -> Option<&'static str> {
        let inside = self.config_places().iter().any(|place| self.specs.share_work_tree(place));
        match (inside, self.config_named) {
            (true, _) => Some("is in the same git work tree as the specs"),
            (false, false) => Some("was found by default, not named"),
            (false, true) => None,
        }
    }

    /// Returns the folder of the configuration's name, and the one of the file itself, where that
    /// is a link. A change in either folder may change the configuration.
    pub(crate) fn config_places(&self) -> Vec<PathBuf> {
        let real = self.root.join(&*self.config.file).canonicalize().ok();
        let real = real.as_deref().and_then(Path::parent).map(Path::to_owned);
        self.root.canonicalize().into_iter().chain(real).collect()
    }

    pub(crate) fn partner(&self) -> CommandResult<String> {
        let name = self.config.partner.name.as_ref();
        Ok(self.config.require("partner.name", name, &ProcessEnv)?.to_string())
    }

    /// Opens the existing state, and checks its owner.
    pub(crate) async fn open_state(&self, rebuild: bool) -> CommandResult<StateHandle> {
        self.require_local("this command", "it works on the state on this machine")?;
        self.require_state()?;
        self.check_owner(self.open(rebuild)?).await
    }

    /// Opens the state, a new one where there is none, and checks its owner.
    pub(crate) async fn make_state(&self) -> CommandResult<StateHandle> {
        self.check_owner(self.open(false)?).await
    }

    async fn check_owner(&self, open: StateHandle) -> CommandResult<StateHandle> {
        if open.state.facts.state_owner()?.is_some() {
            self.bind(&open, None).await?;
        }
        Ok(open)
    }

    /// Opens the state to act on it: one without an owner becomes this partner's.
    pub(crate) async fn open_bound(
        &self,
        embedded: Option<&Embedded>,
    ) -> CommandResult<StateHandle> {
        let open = self.open(false)?;
        self.bind(&open, embedded).await?;
        Ok(open)
    }

    /// Refuses a command that a daemon elsewhere cannot run, with the reason.
    pub(crate) fn require_local(&self, what: &str, why: &str) -> CommandResult<()> {
        if self.server.is_some() { Err(local_only(what, why)) } else { Ok(()) }
    }

    /// Opens the state.
    ///
    /// # Errors
    /// The state is not on this machine, but at the named daemon.
    fn open(&self, rebuild: bool) -> CommandResult<StateHandle> {
        self.require_local("this command", "it works on the state on this machine")?;
        let key = self.key_or_make()?;
        let state = OpenState::open(&self.opening(rebuild)?, &key)?;
        state_handle::print_finding(&state.found);
        if let Some(file) = self.own_key_file() {
            let settled = file.settle(&key);
            settled.map_err(|error| CommandFailure::environment("reckon::state::key", error))?;
        }
        let open = StateHandle::of(state, None);
        // A state keeps its identity for ever: a value that is set already equals this one.
        drop(self.identity.set(open.identity.clone()));
        Ok(open)
    }

    /// Binds the state to this partner, or checks its owner. Without the partner's own values, as
    /// on a machine that only views the state, the client is not compared.
    pub(crate) async fn bind(
        &self,
        open: &StateHandle,
        embedded: Option<&Embedded>,
    ) -> CommandResult<()> {
        let id = self.access(embedded).ok().map(|partner| partner.client_id);
        let digest_key = open.identity.digest_key();
        let digest = |id: Secret| keyed_digest(&digest_key, "client", id.expose().as_bytes());
        let known = open.state.facts.state_owner()?.map(|bound| bound.client);
        let Some(client) = id.map(|id| digest(id).to_string()).or(known) else { return Ok(()) };
        let began = Some(clock(embedded).now());
        let (partner, key) = (self.partner()?, open.identity.name().to_owned());
        let binding = StateOwner { partner, client, key, epoch: 0, began };
        Ok(open.state.check_owner(&binding).await?)
    }

    /// Returns the options for opening the state, with the holder of its lock.
    pub(crate) fn opening(&self, rebuild: bool) -> CommandResult<StateOptions> {
        Ok(StateOptions {
            dir: self.state.clone(),
            owner: machine::owner(),
            boot: machine::boot_id(),
            rebuild,
            marking: Some(state_handle::mark_settings(&self.config, &self.state)?),
        })
    }

    /// Returns the partner application's values: the embedded sandbox's, or the configured ones.
    fn access(&self, embedded: Option<&Embedded>) -> Result<PartnerAccess, SecretError> {
        if let Some(embedded) = embedded {
            return Ok(embedded.partner.clone());
        }
        let partner = &self.config.partner;
        let failed = |error: ConfigError| {
            let way_on = matches!(error, ConfigError::Unset { .. }).then(|| format!("; {WAY_ON}"));
            SecretError { message: format!("{error}{}", way_on.unwrap_or_default()) }
        };
        let need = |path, setting| self.config.require(path, setting, &ProcessEnv).map_err(failed);
        let client_id = need("partner.client_id", partner.client_id.as_ref())?;
        let secret = partner.client_secret.as_ref();
        let client_secret = self.config.require("partner.client_secret", secret, &ProcessEnv);
        let redirect = partner.redirect_uri.as_ref();
        let redirect_uri = self.config.require("partner.redirect_uri", redirect, &ProcessEnv);
        Ok(PartnerAccess {
            client_id: Secret::from(client_id),
            client_secret: client_secret.map_err(failed)?,
            redirect_uri: redirect_uri.map_err(failed)?.as_str().to_owned(),
        })
    }

    pub(crate) fn engine_parts(
        &self,
        open: &StateHandle,
        how: EngineOptions,
    ) -> CommandResult<Arc<EngineShared>> {
        let partner = self.access(how.embedded.as_ref());
        let doubt = &self.config.doubt;
        let timeout = self.config.service.timeout.get(&ProcessEnv)?;
        let settings = EngineSettings {
            planning: state_view::PlannerSettings {
                partner: self.partner()?,
                digest_key: open.identity.digest_key(),
                on_doubt: doubt.contact.get(&ProcessEnv)?,
                live_refused: self.live_refused().filter(|_| how.embedded.is_none()),
                prune: self.config.policy.prune.get(&ProcessEnv)?,
            },
            timeout,
            grace: doubt.grace.get(&ProcessEnv)?,
            concurrency: CONCURRENCY,
            hook_time: Some(crate::scripting::language::limits::TIME_MAX),
            first_look: true,
            cautious_start: how.embedded.is_none(),
            failures_max: (!how.keep_trying).then_some(FAILURES_MAX),
            policy: self.config.rules(&ProcessEnv)?,
        };
        Ok(EngineShared::new(EngineParts {
            client: self.client(how.embedded.as_ref(), partner.as_ref().ok())?,
            writer: open.state.writer.clone(),
            facts: open.state.facts.clone(),
            vault: open.state.vault.clone(),
            clock: clock(how.embedded.as_ref()),
            secrets: match how.secrets {
                Some(secrets) => secrets,
                None => Arc::new(self.secrets()?),
            },
            partner,
            settings,
            rng: machine::rng()?.into(),
        }))
    }

    pub(crate) fn secrets(&self) -> CommandResult<OpenedSecrets> {
        Ok(OpenedSecrets {
            variables: self.config.open_variables(&ProcessEnv)?,
            files: resolve_optional(self.config.secrets.files.as_ref(), &ProcessEnv)?,
            attachments: self.attachments()?,
            programs: self.config.secrets.exec.clone(),
            identity: self.config.secrets.age.clone(),
            dir: self.root.clone(),
            env: Arc::new(|name| crate::config::setting::EnvSource::var(&ProcessEnv, name)),
        })
    }

    /// Returns true if the files that specs attach are unchanged in size, time and inode.
    pub(crate) fn attachments_unchanged(&self, seen: &[(String, Option<Stamp>)]) -> bool {
        let files = self.check.files.as_deref();
        seen.iter().all(|(path, stamp)| files.and_then(|files| files.stamp(path)) == *stamp)
    }

    fn attachments(&self) -> CommandResult<Option<AttachmentFolder>> {
        let place = |path: PathBuf| FolderLocation::from_config(&self.root, &path);
        Ok(self.attachments_path()?.map(place).map(AttachmentFolder::new))
    }
}
