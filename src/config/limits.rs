//! `policy.limits` and `policy.approvals`: limits of a plan, and the approvals that let a plan past
//! them.
//!
//! Limits directly beneath `limits` hold for both modes, and each mode is counted apart. `live` and
//! `test` override single keys for their mode.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;

use crate::base::id::Key;
use crate::base::money::Money;
use crate::config::approvals::SignedSection;
use crate::config::reader::{ConfigReader, ReadField, Section, section};
use crate::config::setting::{ConfigError, EnvSource, Placed, Setting, resolve_optional};
use crate::kinds::planning::step::MERCHANT;
use crate::policy::{ApprovalRules, limits as policy};
use crate::spec::text::node::{Node, NodeEntry, NodeValue};

/// The keys of `policy.limits` beside those of a [`LimitSection`].
const PARTS: [&str; 3] = ["live", "test", "merchants"];
const APPROVALS: [&str; 4] = ["above", "approvers", "valid_for", "signed"];

type Amounts = Placed<Vec<Placed<Setting<Money>>>>;
type Count = Placed<Setting<u32>>;

/// Limits of one mode or merchant.
#[derive(Debug, Clone, Default, JsonSchema)]
struct LimitSection {
    /// The most that one amount of one resource may be, for each currency.
    per_object: Option<Amounts>,
    /// The most that one state of the files may move on one day, for each currency.
    per_run: Option<Amounts>,
    /// The most that may move on one UTC day, for each currency.
    per_day: Option<Amounts>,
    /// The most that an amount may be, in per cent of the usual one.
    usual_percent: Option<Count>,
    /// The most objects that one run may remove from the service.
    deletes_per_run: Option<Count>,
    /// The most objects that may be removed from the service on one UTC day.
    deletes_per_day: Option<Count>,
    /// The most e-mail addresses to which one run may send messages.
    emails_per_run: Option<Count>,
    /// The most e-mail addresses to which messages may be sent on one UTC day.
    emails_per_day: Option<Count>,
}

/// The limits of a plan. Without them nothing is limited.
#[derive(Debug, Clone, Default, JsonSchema)]
pub struct LimitSettings {
    #[schemars(flatten)]
    both: LimitSection,
    /// Limits that replace single keys for live money.
    #[schemars(with = "Option<LimitSection>")]
    live: LimitSection,
    /// Limits that replace single keys for test money.
    #[schemars(with = "Option<LimitSection>")]
    test: LimitSection,
    /// The limits of single merchants, by `NAME` or `NAMESPACE/NAME`.
    #[schemars(with = "Option<BTreeMap<String, Option<LimitSection>>>")]
    merchants: BTreeMap<Key, (String, LimitSection)>,
}

/// The approvals that let a plan past a limit.
#[derive(Debug, Clone, Default, JsonSchema)]
pub struct ApprovalSettings {
    /// The amounts above which a plan needs `approvers`, for each currency.
    #[schemars(rename = "above", with = "Option<Vec<Setting<Money>>>")]
    thresholds: Vec<Setting<Money>>,
    /// The number of different people who must approve a plan above these amounts.
    #[schemars(extend("default" = 2))]
    approvers: Option<Setting<u32>>,
    /// The time for which an approval counts.
    #[schemars(extend("default" = "7d"))]
    valid_for: Option<Setting<Duration>>,
    /// The source of approvals in signed commits; without it they do not count.
    pub signed: Option<SignedSection>,
}

section!(LimitSection:
    per_object, per_run, per_day, usual_percent,
    deletes_per_run, deletes_per_day, emails_per_run, emails_per_day);

impl ReadField for Option<Amounts> {
    fn read_field(reader: &mut ConfigReader<'_>, parent: &Node, key: &str, _: Self) -> Self {
        reader.read_amounts(parent, key)
    }
}

impl ConfigReader<'_> {
    pub(crate) fn read_limits(&mut self, policy: &Node) -> LimitSettings {
        let keys = [LimitSection::KEYS, &PARTS].concat();
        let Some(node) = self.section(policy, "limits", &keys) else {
            return LimitSettings::default();
        };
        let empty = LimitSection::default;
        LimitSettings {
            both: LimitSection::read_keys(self, node, empty()),
            live: LimitSection::read_field(self, node, "live", empty()),
            test: LimitSection::read_field(self, node, "test", empty()),
            merchants: self.merchant_limits(node),
        }
    }

    /// Reads the limits of single merchants, by `NAME` or `NAMESPACE/NAME`.
    fn merchant_limits(&mut self, limits: &Node) -> BTreeMap<Key, (String, LimitSection)> {
        let Some(entry) = limits.present("merchants") else { return BTreeMap::new() };
        if !matches!(entry.value.value, NodeValue::Map(_)) {
            let help = "write `{acme: {per_day: [\"500.00 USD\"]}}`";
            let message = "`merchants` must be a mapping of merchants to limits";
            self.invalid(entry.key_span.clone(), message, help);
        }
        let merchants = entry.value.entries().iter();
        merchants.filter_map(|one| self.merchant_section(&entry.value, one)).collect()
    }

    fn merchant_section(
        &mut self,
        merchants: &Node,
        entry: &NodeEntry,
    ) -> Option<(Key, (String, LimitSection))> {
        let Ok(key) = format!("{MERCHANT}/{}", entry.key).parse::<Key>() else {
            let message = format!("`{}` is not the name of a merchant", entry.key);
            let help = "write its name, or its namespace and name: `acme` or `books/acme`";
            self.invalid(entry.key_span.clone(), &message, help);
            return None;
        };
        let node = self.section(merchants, &entry.key, LimitSection::KEYS)?;
        let limits = LimitSection::read_keys(self, node, LimitSection::default());
        Some((key, (entry.key.clone(), limits)))
    }

    fn read_amounts(&mut self, node: &Node, name: &str) -> Option<Amounts> {
        let place = self.place_of_key(node, name)?;
        let mut value = Vec::new();
        for item in self.items(node, name) {
            let found = self.scalar::<Money>(item, item.span.clone());
            let is_listed =
                |found: &Setting<Money>| value.iter().any(|one| is_same_currency(one, found));
            let twice = found.as_ref().is_some_and(is_listed);
            if twice {
                let help = "write one amount for each currency";
                self.invalid(item.span.clone(), "the list has two amounts of this currency", help);
            }
            let place = self.place(item.span.start);
            value.extend(found.map(|value| Placed { value, place }));
        }
        Some(Placed { value, place })
    }

    pub(crate) fn read_approvals(&mut self, policy: &Node) -> ApprovalSettings {
        let Some(node) = self.section(policy, "approvals", &APPROVALS) else {
            return ApprovalSettings::default();
        };
        ApprovalSettings {
            thresholds: self.list(node, "above"),
            approvers: self.approver_count(node),
            valid_for: self.setting(node, "valid_for"),
            signed: self.read_signed_section(node),
        }
    }

    fn approver_count(&mut self, node: &Node) -> Option<Setting<u32>> {
        let found = self.setting::<u32>(node, "approvers");
        if let (Some(Setting::Literal(0)), Some(entry)) = (&found, node.entry("approvers")) {
            let help = "write 1 or more; without `above`, one person is enough";
            self.invalid(entry.value.span.clone(), "with 0, no plan would need an approval", help);
        }
        found
    }
}

fn is_same_currency(one: &Placed<Setting<Money>>, other: &Setting<Money>) -> bool {
    match (&one.value, other) {
        (Setting::Literal(one), Setting::Literal(other)) => one.currency() == other.currency(),
        _ => false,
    }
}

impl LimitSettings {
    /// Returns the limits of a file, each with its place there.
    pub(crate) fn rules(&self, env: &dyn EnvSource) -> Result<policy::Limits, ConfigError> {
        let merchants = self.merchants.iter().map(|(key, (name, section))| {
            let limits = section.rules(&format!("policy.limits.merchants.{name}"), env)?;
            Ok((key.clone(), limits))
        });
        let of_mode =
            |section: &LimitSection, name: &str| -> Result<policy::LimitSet, ConfigError> {
                Ok(section.rules(name, env)?.with_fallback(&self.both.rules("policy.limits", env)?))
            };
        Ok(policy::Limits {
            live: of_mode(&self.live, "policy.limits.live")?,
            test: of_mode(&self.test, "policy.limits.test")?,
            merchants: merchants.collect::<Result<_, _>>()?,
        })
    }
}

impl ApprovalSettings {
    pub(crate) fn rules(&self, env: &dyn EnvSource) -> Result<ApprovalRules, ConfigError> {
        let default = ApprovalRules::default();
        let above = self.thresholds.iter().map(|one| {
            let money = one.get(env)?;
            Ok((money.currency(), money.minor()))
        });
        let approvers = resolve_optional(self.approvers.as_ref(), env)?;
        let approvers = approvers.and_then(|number| usize::try_from(number).ok());
        Ok(ApprovalRules {
            above: above.collect::<Result<_, ConfigError>>()?,
            approvers: approvers.unwrap_or(default.approvers),
            valid_for: resolve_optional(self.valid_for.as_ref(), env)?.unwrap_or(default.valid_for),
        })
    }
}

impl LimitSection {
    fn rules(&self, path: &str, env: &dyn EnvSource) -> Result<policy::LimitSet, ConfigError> {
        let at = |name| format!("{path}.{name}");
        let amounts = |name, limit: &Option<Amounts>| {
            limit.as_ref().map(|limit| amount_limit(limit, &at(name), env)).transpose()
        };
        let count = |name, limit: &Option<Count>| {
            limit.as_ref().map(|limit| count_limit(limit, &at(name), env)).transpose()
        };
        Ok(policy::LimitSet {
            per_object: amounts("per_object", &self.per_object)?,
            per_run: amounts("per_run", &self.per_run)?,
            per_day: amounts("per_day", &self.per_day)?,
            typical_percent: count("usual_percent", &self.usual_percent)?,
            deletes_per_run: count("deletes_per_run", &self.deletes_per_run)?,
            deletes_per_day: count("deletes_per_day", &self.deletes_per_day)?,
            emails_per_run: count("emails_per_run", &self.emails_per_run)?,
            emails_per_day: count("emails_per_day", &self.emails_per_day)?,
        })
    }
}

fn amount_limit(
    limit: &Amounts,
    name: &str,
    env: &dyn EnvSource,
) -> Result<policy::AmountLimit, ConfigError> {
    let listed = limit.value.iter().map(|one| {
        let money = one.value.get(env)?;
        Ok((money.currency(), (money.minor(), one.place.clone())))
    });
    let listed = listed.collect::<Result<_, ConfigError>>()?;
    Ok(policy::AmountLimit { name: Arc::from(name), place: limit.place.clone(), listed })
}

fn count_limit(
    limit: &Count,
    name: &str,
    env: &dyn EnvSource,
) -> Result<policy::CountLimit, ConfigError> {
    let (name, maximum) = (Arc::from(name), limit.value.get(env)?);
    Ok(policy::CountLimit { name, place: limit.place.clone(), maximum })
}

#[cfg(test)]
mod tests;
