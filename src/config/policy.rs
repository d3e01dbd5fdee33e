//! `policy`: limits, approvals, guards, the rights of scripts, and the times of changes.

use chrono_tz::Tz;
use schemars::JsonSchema;

use crate::config::prune::ScriptRights;
use crate::config::setting::{ConfigError, EnvSource, Setting};
use crate::config::time_forms::{FreezeForm, WindowForm, WrittenValue, ZoneName};
use crate::config::value::{AmountFormat, SyncMode};
use crate::config::{limits, prune};
use crate::policy::time_rules::TimeRule;
use crate::policy::{PolicyRules, TimeRules};

#[derive(Debug, Clone, JsonSchema)]
pub struct PolicySettings {
    /// The accepted forms of amounts: `"125.00 USD"` only, or also a whole number of minor units.
    #[schemars(with = "Option<Setting<AmountFormat>>", extend("default" = "minor"))]
    pub amounts: Setting<AmountFormat>,
    /// The limits of a plan. Without them nothing is limited.
    #[schemars(with = "Option<limits::LimitSettings>")]
    pub limits: limits::LimitSettings,
    /// The approvals that let a plan past a limit.
    #[schemars(with = "Option<limits::ApprovalSettings>")]
    pub approvals: limits::ApprovalSettings,
    /// The guards of removals.
    #[schemars(with = "Option<prune::PruneSection>")]
    pub prune: prune::PruneSection,
    /// The rights of scripts.
    #[schemars(with = "Option<ScriptRights>")]
    pub scripts: ScriptRights,
    /// The daemon sends changes of documents by itself, or waits for `reckon sync`.
    #[schemars(with = "Option<Setting<SyncMode>>", extend("default" = "auto"))]
    pub sync: Setting<SyncMode>,
    /// The time zone of the windows and freezes that name none. Written in the file itself.
    #[schemars(with = "Option<WrittenValue<ZoneName>>")]
    pub zone: Option<Tz>,
    /// The windows: changes of documents begin only inside a window that covers their merchant. A
    /// merchant that no window covers is free.
    #[schemars(with = "Option<Vec<WindowForm>>")]
    pub windows: Vec<TimeRule>,
    /// The freezes: no change of a document begins from `from` on, until before `to`.
    #[schemars(with = "Option<Vec<FreezeForm>>")]
    pub freezes: Vec<TimeRule>,
}

impl PolicySettings {
    pub(crate) fn rules(&self, env: &dyn EnvSource) -> Result<PolicyRules, ConfigError> {
        let times = TimeRules::new(self.windows.iter().chain(&self.freezes).cloned().collect());
        let limits = self.limits.rules(env)?;
        Ok(PolicyRules { limits, approvals: self.approvals.rules(env)?, times })
    }
}

impl Default for PolicySettings {
    fn default() -> Self {
        Self {
            amounts: Setting::Literal(AmountFormat::Minor),
            limits: limits::LimitSettings::default(),
            approvals: limits::ApprovalSettings::default(),
            prune: prune::PruneSection::default(),
            scripts: ScriptRights::default(),
            sync: Setting::Literal(SyncMode::Auto),
            zone: None,
            windows: Vec::new(),
            freezes: Vec::new(),
        }
    }
}
