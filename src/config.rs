//! `reckon.yaml`: what the operator decides, as opposed to what specs ask for.
//!
//! Loading takes the file apart and tells every mistake with its place; it reads no variable and
//! no other file. Any scalar may be `{env: NAME}`: a [`Setting`] is read at its first use, from an
//! [`Env`] that is passed in. Relative paths are relative to the file's folder.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{fs, io};

use ipnet::IpNet;

use crate::base::folder::Place;
use crate::base::id::Name;
use crate::base::money::Currency;
use crate::base::secret::Secret;
use crate::kinds::CheckCx;
use crate::kinds::files::Files;
use crate::kinds::open_variables::{EnvPattern, Variables};
use crate::model::issue::Problem;
use crate::model::manifest::OnDoubt;
use crate::spec::mask::MaskedSource;
use crate::spec::source::folder::AttachmentFolder;

mod approval_file;
mod limits;
mod notify;
mod open;
mod programs;
mod prune;
mod read;
mod reader;
mod script_rights;
mod sections;
mod setting;
mod signed;
mod store;
mod value;
mod webhooks;

pub use approval_file::ApprovalFile;
pub use notify::{Encryption, MailAddress, MailTarget, Notify, NotifyTarget, SecretUrl, WebForm};
pub use programs::Programs;
pub use script_rights::ScriptRights;
pub use setting::{ConfigError, Env, FromText, ProcessEnv, Setting, Wrong};
pub use signed::{Authors, SignedRules};
pub use store::{Archived, Store, When};
pub use value::{Amounts, HttpUrl, VaultKey};
pub use webhooks::Webhooks;

/// The file's name where `--config` names none.
pub const FILE_NAME: &str = "reckon.yaml";

/// How long one call to the service may take where the file does not say.
const TIMEOUT_DEFAULT: Duration = Duration::from_secs(30);
/// How much longer than a call a proof of absence waits (design.md part 3).
const GRACE_DEFAULT: Duration = Duration::from_secs(30);
/// For so long events are kept where the file does not say.
const KEEP_DEFAULT: Duration = Duration::from_hours(90 * 24);
const LISTEN_PORT_DEFAULT: u16 = 8780;

/// The whole file, defaults filled in.
#[derive(Debug, Clone)]
pub struct Config {
    /// The file itself, for messages.
    pub file: Arc<str>,
    /// The folder that relative paths start from.
    pub dir: Arc<Path>,
    /// Who we are to the service.
    pub partner: Partner,
    /// Where the service is.
    pub service: Service,
    /// What specs may reach.
    pub secrets: Secrets,
    /// The folder of specs.
    pub specs: Setting<PathBuf>,
    /// The folder of scripts.
    pub scripts: Setting<PathBuf>,
    /// The state directory.
    pub state: Setting<PathBuf>,
    /// The folder of the state's mark; beside the state if it is left out.
    pub state_mark: Option<Setting<PathBuf>>,
    /// The private listener.
    pub listen: Setting<SocketAddr>,
    /// The listener that faces the world: notifications come there and nowhere else. Without it they
    /// come to the private one.
    pub public_listen: Option<Setting<SocketAddr>>,
    /// The address under which the world finds that listener.
    pub public_url: Option<Setting<HttpUrl>>,
    /// Proxies that stand before that listener, and say whom they speak for.
    pub trusted_proxies: Vec<Setting<IpNet>>,
    /// Which posts are heard.
    pub webhooks: Webhooks,
    /// Limits and guards.
    pub policy: Policy,
    /// Whom hooks and alerts may tell something.
    pub notify: Notify,
    /// What is kept of events, and for how long.
    pub events: Events,
    /// When the state is compacted, and how long its history is kept.
    pub store: Store,
    /// What happens when an answer is lost.
    pub doubt: Doubt,
    /// What is odd about the file and no error.
    pub warnings: Vec<Problem>,
    variables: BTreeSet<String>,
}

/// `events`: what is kept of them.
#[derive(Debug, Clone)]
pub struct Events {
    /// The time for which an event is kept with its hooks' runs and settled actions, and for which a forged post is.
    pub keep: Setting<Duration>,
}

impl Default for Events {
    fn default() -> Self {
        Self { keep: Setting::Literal(KEEP_DEFAULT) }
    }
}

/// `partner`: the account at the service (partner-api, Authentication). What a command needs and
/// the file lacks is an error of that command.
#[derive(Debug, Clone, Default)]
pub struct Partner {
    /// The first part of every `source_id`; never changes once something was made.
    pub name: Option<Setting<Name>>,
    /// The partner's client id.
    pub client_id: Option<Setting<String>>,
    /// The partner's client secret.
    pub client_secret: Option<Setting<Secret>>,
    /// Where a merchant's authorization comes back to.
    pub redirect_uri: Option<Setting<HttpUrl>>,
    /// The plans that an application may ask for.
    pub plans: Vec<Plan>,
}

/// One of `partner.plans`.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The service's id of it.
    pub id: Setting<String>,
    /// Whether its merchants have a trust account.
    pub trust: Setting<bool>,
}

/// `service`: its addresses, and how we speak to it.
#[derive(Debug, Clone)]
pub struct Service {
    /// `{base_url}` of both reference documents.
    pub base_url: Option<Setting<HttpUrl>>,
    /// `{web_url}` of merchants that name none.
    pub web_url: Option<Setting<HttpUrl>>,
    /// `{portal_url}`.
    pub portal_url: Option<Setting<HttpUrl>>,
    /// Other web addresses that a merchant may name.
    pub brands: Vec<Setting<HttpUrl>>,
    /// An authority to trust besides the usual ones.
    pub ca_file: Option<Setting<PathBuf>>,
    /// How long one call may take.
    pub timeout: Setting<Duration>,
}

/// `secrets`: what may stand behind a SECRET of a spec.
#[derive(Debug, Clone, Default)]
pub struct Secrets {
    /// The key of the vault.
    pub key: Option<Setting<VaultKey>>,
    /// The variables that specs may name.
    pub env: Vec<Setting<EnvPattern>>,
    /// The folder of files that specs may name.
    pub files: Option<Setting<PathBuf>>,
    /// The folder of files that specs may attach to invoices.
    pub attachments: Option<Setting<PathBuf>>,
    /// The programs that specs may name.
    pub exec: Programs,
    /// The file of the identity that opens sealed texts: relative to this file, or else beneath `files`.
    pub age: Option<Setting<PathBuf>>,
}

/// `policy`.
#[derive(Debug, Clone)]
pub struct Policy {
    /// How amounts may be written.
    pub amounts: Setting<Amounts>,
    /// What may not be exceeded.
    pub limits: limits::Limits,
    /// What lets a plan past a limit.
    pub approvals: limits::Approvals,
    /// The guards of removals.
    pub prune: prune::PruneSection,
    /// The rights of scripts.
    pub scripts: ScriptRights,
}

/// `doubt`.
#[derive(Debug, Clone)]
pub struct Doubt {
    /// How much longer than a call a proof of absence waits.
    pub grace: Setting<Duration>,
    /// What happens to a contact of which nothing can prove whether it was made.
    pub contact: Setting<OnDoubt>,
}

/// A file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// It is not there, or may not be read.
    #[error("failed to read {}: {source}", .file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is not what it should be.
    #[error("{} has {} problems", .0.file, .0.problems.len())]
    Broken(Box<Broken>),
}

/// What is wrong with a file, and its text for the snippets.
#[derive(Debug)]
pub struct Broken {
    /// The file's name in the problems.
    pub file: Arc<str>,
    /// Everything that is wrong.
    pub problems: Vec<Problem>,
    /// The text without what must not show.
    pub source: MaskedSource,
}

impl Config {
    /// Reads the file. Errors: it is not there, or something in it is wrong.
    pub fn load(file: &Path) -> Result<Self, LoadError> {
        let bytes = fs::read(file)
            .map_err(|source| LoadError::Unreadable { file: file.to_owned(), source })?;
        let dir = file.parent().filter(|dir| !dir.as_os_str().is_empty());
        let name = file.file_name().map_or_else(|| FILE_NAME.into(), |name| name.to_string_lossy());
        Self::parse(&name, dir.unwrap_or(Path::new(".")), bytes)
            .map_err(|broken| LoadError::Broken(Box::new(broken)))
    }

    /// Takes a file's bytes apart. `name` is what problems call it, `dir` where paths start.
    pub fn parse(name: &str, dir: &Path, bytes: Vec<u8>) -> Result<Self, Broken> {
        read::parse(name, dir, bytes)
    }

    /// The setting's value. Errors: the file lacks it, or its variable is unset or does not fit.
    pub fn need<T: FromText + Clone>(
        &self,
        path: &'static str,
        setting: Option<&Setting<T>>,
        env: &dyn Env,
    ) -> Result<T, ConfigError> {
        let missing = || ConfigError::Missing { path, file: self.file.clone() };
        setting.ok_or_else(missing)?.get(env)
    }

    /// What the checks of specs need. Errors: as [`Setting::get`].
    pub fn check_cx(&self, env: &dyn Env) -> Result<CheckCx, ConfigError> {
        let Service { web_url, brands, .. } = &self.service;
        let urls = web_url.iter().chain(brands).map(|setting| setting.get(env));
        let web_urls =
            urls.map(|url| url.map(|url| url.as_str().to_owned())).collect::<Result<_, _>>()?;
        let decimal_amounts_only = self.policy.amounts.get(env)? == Amounts::Decimal;
        let plans = self.partner.plans.iter();
        let plans = plans.map(|plan| Ok((plan.id.get(env)?, plan.trust.get(env)?)));
        let plans = plans.collect::<Result<_, _>>()?;
        let programs = Some(self.secrets.exec.keys().cloned().collect());
        let currency = Currency::USD;
        let folder = self.secrets.attachments.as_ref().map(|dir| dir.get(env)).transpose()?;
        let files = folder.map(|dir| -> Arc<dyn Files> {
            Arc::new(AttachmentFolder::new(Place::configured(&self.dir, &dir)))
        });
        let variables = Some(self.open_variables(env)?);
        Ok(CheckCx { decimal_amounts_only, web_urls, currency, plans, programs, variables, files })
    }

    /// The variables that specs may read: those that `secrets.env` opens, less those that this
    /// file reads itself. Errors: as [`Setting::get`].
    pub fn open_variables(&self, env: &dyn Env) -> Result<Variables, ConfigError> {
        let patterns = self.secrets.env.iter().map(|setting| setting.get(env));
        Ok(Variables::new(patterns.collect::<Result<_, _>>()?, self.variables.clone()))
    }
}

impl Default for Service {
    fn default() -> Self {
        Self {
            base_url: None,
            web_url: None,
            portal_url: None,
            brands: Vec::new(),
            ca_file: None,
            timeout: Setting::Literal(TIMEOUT_DEFAULT),
        }
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            amounts: Setting::Literal(Amounts::Minor),
            limits: limits::Limits::default(),
            approvals: limits::Approvals::default(),
            prune: prune::PruneSection::default(),
            scripts: ScriptRights::default(),
        }
    }
}

impl Default for Doubt {
    fn default() -> Self {
        Self {
            grace: Setting::Literal(GRACE_DEFAULT),
            contact: Setting::Literal(OnDoubt::default()),
        }
    }
}

fn listen_default() -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, LISTEN_PORT_DEFAULT))
}

#[cfg(test)]
mod tests;
