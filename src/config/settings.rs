//! `reckon.yaml`: the operator's decisions, as opposed to the manifests.
//!
//! Loading parses the file and reports every mistake with its place. It reads no variable and no
//! other file. Any scalar may be `{env: NAME}`: a [`Setting`] is read at its first use, from an
//! [`EnvSource`] that is passed in. Relative paths are relative to the file's folder.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ipnet::IpNet;
use schemars::JsonSchema;

use crate::base::folder_location::FolderLocation;
use crate::base::id::Name;
use crate::base::money::Currency;
use crate::base::secret::Secret;
use crate::config::events::{EventSettings, StoreSettings, WebhookSettings};
use crate::config::notify::{NotifyTarget, NotifyTargets};
use crate::config::policy::PolicySettings;
use crate::config::setting::{ConfigError, EnvSource, FromText, Setting};
use crate::config::value::{AmountFormat, HttpUrl, VaultKey};
use crate::kinds::schema::kind::{AttachmentFiles, CheckCx, EnvPattern, Variables};
use crate::model::manifest::OnDoubt;
use crate::policy::PolicyRules;
use crate::spec::tree::attachments::AttachmentFolder;

/// The file name where `--config` names none.
pub const FILE_NAME: &str = "reckon.yaml";
/// Default time limit of one call to the service.
const TIMEOUT_DEFAULT: Duration = Duration::from_secs(30);
/// Default of the time that a proof of absence waits beyond the call's timeout (design.md part 3).
const GRACE_DEFAULT: Duration = Duration::from_secs(30);
const LISTEN_PORT_DEFAULT: u16 = 8780;

/// The operator's decisions, in `reckon.yaml`. Any value may be `{env: NAME}`. Paths are relative to
/// the file.
#[derive(Debug, Clone, JsonSchema)]
pub struct Config {
    /// The file's name, for messages.
    #[schemars(skip)]
    pub file: Arc<str>,
    /// The folder that relative paths start from.
    #[schemars(skip)]
    pub dir: Arc<Path>,
    /// The account at the service.
    #[schemars(with = "Option<PartnerSettings>")]
    pub partner: PartnerSettings,
    /// The service: its addresses, its authority and the time limit of calls.
    #[schemars(with = "Option<ServiceSettings>")]
    pub service: ServiceSettings,
    /// The sources that a secret of a document may name.
    #[schemars(with = "Option<SecretSettings>")]
    pub secrets: SecretSettings,
    /// The folders of documents: one path, or a list. Later folders add to earlier ones.
    #[schemars(with = "Option<FoldersSection>", extend("default" = "specs"))]
    pub specs: Vec<Setting<PathBuf>>,
    /// The program, and its arguments, whose output is the tree; it runs in the first folder of
    /// `specs`. No shell reads them. Only for a configuration outside the repository of the specs
    /// that is named by `--config`.
    #[schemars(with = "Option<Vec<Setting<String>>>")]
    pub render: Vec<Setting<String>>,
    /// The folder of scripts.
    #[schemars(with = "Option<Setting<PathBuf>>", extend("default" = "scripts"))]
    pub scripts: Setting<PathBuf>,
    /// The state directory.
    #[schemars(with = "Option<Setting<PathBuf>>", extend("default" = ".reckon"))]
    pub state: Setting<PathBuf>,
    /// The folder of the state's mark; beside the state if left out.
    pub state_mark: Option<Setting<PathBuf>>,
    /// The private listener.
    #[schemars(with = "Option<Setting<SocketAddr>>", extend("default" = "127.0.0.1:8780"))]
    pub listen: Setting<SocketAddr>,
    /// The listener that faces the world; webhooks arrive there and nowhere else. Without it they
    /// arrive at the private one.
    pub public_listen: Option<Setting<SocketAddr>>,
    /// The address under which the world reaches that listener.
    pub public_url: Option<Setting<HttpUrl>>,
    /// Proxies in front of that listener whose forwarded addresses are believed.
    #[schemars(with = "Option<Vec<Setting<IpNet>>>")]
    pub trusted_proxies: Vec<Setting<IpNet>>,
    /// The posts accepted at the addresses that face the world.
    #[schemars(with = "Option<WebhookSettings>")]
    pub webhooks: WebhookSettings,
    /// Limits, approvals, guards, and the rights of scripts.
    #[schemars(with = "Option<PolicySettings>")]
    pub policy: PolicySettings,
    /// The targets of notifications from hooks and alerts, by name.
    #[schemars(with = "Option<BTreeMap<String, NotifyTarget>>")]
    pub notify: NotifyTargets,
    /// The retention of events.
    #[schemars(with = "Option<EventSettings>")]
    pub events: EventSettings,
    /// Compaction, and the retention of records that a compaction replaced.
    #[schemars(with = "Option<StoreSettings>")]
    pub store: StoreSettings,
    /// The settlement of lost answers.
    #[schemars(with = "Option<DoubtSettings>")]
    pub doubt: DoubtSettings,
    #[schemars(skip)]
    pub(crate) variables: BTreeSet<String>,
}

/// `partner`: the account at the service (partner-api, Authentication). A command that needs a
/// missing field fails with an error of its own.
#[derive(Debug, Clone, Default, JsonSchema)]
pub struct PartnerSettings {
    /// The first part of every `source_id`; never changes once an object was created.
    pub name: Option<Setting<Name>>,
    /// The partner's client id at the service.
    pub client_id: Option<Setting<String>>,
    /// The partner's client secret at the service.
    pub client_secret: Option<Setting<Secret>>,
    /// The address to which a merchant's authorisation returns.
    pub redirect_uri: Option<Setting<HttpUrl>>,
    /// The plans that an application may request.
    #[schemars(with = "Option<Vec<PartnerPlan>>")]
    pub plans: Vec<PartnerPlan>,
}

/// One of `partner.plans`.
#[derive(Debug, Clone, JsonSchema)]
pub struct PartnerPlan {
    /// The service's id of the plan.
    pub id: Setting<String>,
    /// True if merchants on the plan have a trust account.
    #[schemars(with = "Option<Setting<bool>>", extend("default" = false))]
    pub trust: Setting<bool>,
}

/// `service`: its addresses, its authority and the time limit of calls.
#[derive(Debug, Clone, JsonSchema)]
pub struct ServiceSettings {
    /// The address of the service's interfaces: `{base_url}` of both reference documents.
    pub base_url: Option<Setting<HttpUrl>>,
    /// The web address of merchants that name none: `{web_url}`.
    pub web_url: Option<Setting<HttpUrl>>,
    /// The address of the service's portal: `{portal_url}`.
    pub portal_url: Option<Setting<HttpUrl>>,
    /// Other web addresses that a merchant may name.
    #[schemars(with = "Option<Vec<Setting<HttpUrl>>>")]
    pub brands: Vec<Setting<HttpUrl>>,
    /// An authority to trust besides the usual ones.
    pub ca_file: Option<Setting<PathBuf>>,
    /// The time limit of one call.
    #[schemars(with = "Option<Setting<Duration>>", extend("default" = "30s"))]
    pub timeout: Setting<Duration>,
}

/// The programs of `secrets.exec` by name, each a program and its arguments; no shell splits them.
pub type Programs = BTreeMap<String, Vec<Setting<String>>>;

/// `secrets`: the sources that a SECRET of a manifest may name.
#[derive(Debug, Clone, Default, JsonSchema)]
pub struct SecretSettings {
    /// The key of the vault: 32 bytes in base64.
    pub key: Option<Setting<VaultKey>>,
    /// The variables that documents may name: names, or a prefix and `*`.
    #[schemars(with = "Option<Vec<Setting<EnvPattern>>>")]
    pub env: Vec<Setting<EnvPattern>>,
    /// The folder of files that documents may name.
    pub files: Option<Setting<PathBuf>>,
    /// The folder of files that documents may attach to invoices.
    pub attachments: Option<Setting<PathBuf>>,
    /// The programs that documents may name, by name: the program, then its arguments. No shell
    /// reads them.
    #[schemars(with = "Option<BTreeMap<String, Vec<Setting<String>>>>")]
    pub exec: Programs,
    /// The identity that opens sealed texts.
    #[schemars(with = "Option<AgeSection>")]
    pub age: Option<Setting<PathBuf>>,
}

/// The form of `specs`.
#[derive(JsonSchema)]
#[serde(untagged)]
#[schemars(title = "path, or list of paths")]
#[expect(dead_code, reason = "declares a schema")]
enum FoldersSection {
    One(Setting<PathBuf>),
    Several(#[schemars(length(min = 1))] Vec<Setting<PathBuf>>),
}

/// The form of `secrets.age`.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "declares a schema")]
struct AgeSection {
    /// The file of the identity: relative to this file, or else beneath `secrets.files`.
    file: Setting<PathBuf>,
}

#[derive(Debug, Clone, JsonSchema)]
pub struct DoubtSettings {
    /// The time that a proof of absence waits beyond the call's timeout.
    #[schemars(with = "Option<Setting<Duration>>", extend("default" = "30s"))]
    pub grace: Setting<Duration>,
    /// The treatment of a contact whose creation can neither be proved nor disproved.
    #[schemars(with = "Option<Setting<OnDoubt>>", extend("default" = "recreate"))]
    pub contact: Setting<OnDoubt>,
}

impl Config {
    /// Returns the setting's value.
    ///
    /// # Errors
    /// The file lacks the setting, or its variable is unset or does not fit.
    pub fn require<T: FromText + Clone>(
        &self,
        path: &'static str,
        setting: Option<&Setting<T>>,
        env: &dyn EnvSource,
    ) -> Result<T, ConfigError> {
        setting.ok_or_else(|| ConfigError::Missing { path, file: self.file.clone() })?.get(env)
    }

    pub fn rules(&self, env: &dyn EnvSource) -> Result<PolicyRules, ConfigError> {
        self.policy.rules(env)
    }

    pub fn check_context(&self, env: &dyn EnvSource) -> Result<CheckCx, ConfigError> {
        let ServiceSettings { web_url, brands, .. } = &self.service;
        let urls = web_url.iter().chain(brands).map(|setting| setting.get(env));
        let web_urls =
            urls.map(|url| url.map(|url| url.as_str().to_owned())).collect::<Result<_, _>>()?;
        let decimal_amounts_only = self.policy.amounts.get(env)? == AmountFormat::Decimal;
        let plans = self.partner.plans.iter();
        let plans = plans.map(|plan| Ok((plan.id.get(env)?, plan.trust.get(env)?)));
        let plans = plans.collect::<Result<_, _>>()?;
        let programs = Some(self.secrets.exec.keys().cloned().collect());
        let currency = Currency::USD;
        let folder = self.secrets.attachments.as_ref().map(|dir| dir.get(env)).transpose()?;
        let files = folder.map(|dir| -> Arc<dyn AttachmentFiles> {
            Arc::new(AttachmentFolder::new(FolderLocation::from_config(&self.dir, &dir)))
        });
        let variables = Some(self.open_variables(env)?);
        Ok(CheckCx { decimal_amounts_only, web_urls, currency, plans, programs, variables, files })
    }

    /// Returns the variables that `secrets.env` opens, less those that this file itself reads.
    pub fn open_variables(&self, env: &dyn EnvSource) -> Result<Variables, ConfigError> {
        let patterns = self.secrets.env.iter().map(|setting| setting.get(env));
        Ok(Variables::new(patterns.collect::<Result<_, _>>()?, self.variables.clone()))
    }
}

impl Default for ServiceSettings {
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

impl Default for DoubtSettings {
    fn default() -> Self {
        let contact = Setting::Literal(OnDoubt::default());
        Self { grace: Setting::Literal(GRACE_DEFAULT), contact }
    }
}

pub(crate) fn listen_default() -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, LISTEN_PORT_DEFAULT))
}
