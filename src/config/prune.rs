//! `policy.prune` and `policy.scripts`: the guards of removals, each value with its line, and the
//! rights of scripts, as a list of powers, or as powers with the merchants for which they are
//! opened.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use schemars::JsonSchema;
use serde_json::{Value, json};

use crate::base::id::Key;
use crate::base::wording;
use crate::config::reader::{ConfigReader, section};
use crate::config::setting::{
    ConfigError, EnvSource, FromText, InvalidValue, Placed, Setting, resolve_optional, text_schema,
    word_schema, words,
};
use crate::kinds::planning::step::MERCHANT;
use crate::policy::prune::{Configured, PruneGuards};
use crate::policy::{AllowedMerchants, Rights, ScriptPower};
use crate::spec::text::node::{Node, NodeValue};

/// The guards of removals.
#[derive(Debug, Clone, Default, JsonSchema)]
pub struct PruneSection {
    /// The largest share of a set that one plan may remove; sets of fewer than ten are not checked.
    #[schemars(extend("default" = 30))]
    percent: Option<Placed<Setting<Percentage>>>,
    /// The treatment of a tree, kind or merchant without any document left.
    #[schemars(extend("default" = "refuse"))]
    empty: Option<Placed<Setting<GuardMode>>>,
    /// The treatment of a new document that equals a missing one.
    #[schemars(extend("default" = "refuse"))]
    renames: Option<Placed<Setting<GuardMode>>>,
    /// The time that a live object stays after its mark.
    #[schemars(extend("default" = "24h"))]
    delay: Option<Placed<Setting<Duration>>>,
}

/// A whole number of per cent, from 0 to 100.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Percentage(u32);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GuardMode {
    Refuse,
    Allow,
}

impl FromText for Percentage {
    fn from_text(text: &str, _dir: &Path) -> Result<Self, InvalidValue> {
        let number = text.strip_suffix('%').unwrap_or(text).trim();
        let number = number.parse::<u32>().ok().filter(|number| *number <= 100);
        number.map(Self).ok_or_else(|| {
            let help = "write a whole number from 0 to 100, such as `30`";
            InvalidValue::new(format!("`{text}` is not a percentage"), help)
        })
    }

    fn schema() -> Value {
        json!({ "title": "percentage", "type": ["integer", "string"], "minimum": 0, "maximum": 100, "pattern": "^\\+?[0-9]+\\s*%?$" })
    }
}

words!(GuardMode: "refuse" => Refuse, "allow" => Allow);

fn resolve<T: FromText + Clone, V>(
    placed: Option<&Placed<Setting<T>>>,
    env: &dyn EnvSource,
    default: Configured<V>,
    value: impl Fn(T) -> V,
) -> Result<Configured<V>, ConfigError> {
    let Some(Placed { value: setting, place }) = placed else { return Ok(default) };
    Ok(Configured { value: value(setting.get(env)?), set_at: place.to_string() })
}

impl PruneSection {
    pub fn get(&self, env: &dyn EnvSource) -> Result<PruneGuards, ConfigError> {
        let Self { percent, empty, renames, delay } = self;
        let default = PruneGuards::default();
        let refuses = |guard| guard == GuardMode::Refuse;
        Ok(PruneGuards {
            percent: resolve(percent.as_ref(), env, default.percent, |percent| percent.0)?,
            refuse_empty: resolve(empty.as_ref(), env, default.refuse_empty, refuses)?,
            refuse_renames: resolve(renames.as_ref(), env, default.refuse_renames, refuses)?,
            delay: resolve(delay.as_ref(), env, default.delay, |delay| delay)?,
        })
    }
}

section!(PruneSection: percent, empty, renames, delay);

/// The word for every merchant.
const ALL: &str = "all";
const EXAMPLE: &str = "write `allow: [refund, mail]`, or `allow: {refund: [acme], mail: all}`";

/// The rights of scripts.
#[derive(Debug, Clone, Default, JsonSchema)]
pub struct ScriptRights {
    /// The opened rights: a list, or a mapping of each right to `all` or to its merchants. A script
    /// has none that is not listed.
    #[schemars(rename = "allow", with = "Option<AllowForm>")]
    powers: Vec<(Setting<ScriptPower>, PowerScope)>,
}

#[derive(Debug, Clone)]
enum PowerScope {
    All(Option<Setting<Everyone>>),
    Merchants(Vec<Setting<MerchantKey>>),
}

/// The forms of `allow`.
#[derive(JsonSchema)]
#[schemars(untagged, extend("title" = "list or mapping"))]
#[expect(dead_code, reason = "declares a schema")]
enum AllowForm {
    List(Vec<Setting<ScriptPower>>),
    Merchants(BTreeMap<String, ScopeForm>),
}

/// The forms of the merchants of a right.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "declares a schema")]
enum ScopeForm {
    All(Setting<Everyone>),
    Merchants(Vec<Setting<MerchantKey>>),
}

#[derive(Debug, Clone, Copy)]
struct Everyone;

/// A merchant, as `NAME` or `NAMESPACE/NAME`.
#[derive(Debug, Clone)]
struct MerchantKey(Key);

impl FromText for ScriptPower {
    fn from_text(text: &str, _dir: &Path) -> Result<Self, InvalidValue> {
        Self::from_word(text).ok_or_else(|| {
            let help = wording::suggestion_help(text, Self::ALL.map(Self::word));
            InvalidValue::new(format!("unknown right `{text}`"), help)
        })
    }

    fn schema() -> Value {
        word_schema(&Self::ALL.map(Self::word))
    }
}

impl FromText for Everyone {
    fn from_text(text: &str, _dir: &Path) -> Result<Self, InvalidValue> {
        let wrong =
            || InvalidValue::new(format!("`{text}` is neither `{ALL}` nor a list"), EXAMPLE);
        (text == ALL).then_some(Self).ok_or_else(wrong)
    }

    fn schema() -> Value {
        word_schema(&[ALL])
    }
}

impl FromText for MerchantKey {
    fn from_text(text: &str, _dir: &Path) -> Result<Self, InvalidValue> {
        let key = format!("{MERCHANT}/{text}").parse();
        key.map(Self).map_err(|_| {
            let help = "write its name, or its namespace and name: `acme` or `books/acme`";
            InvalidValue::new(format!("`{text}` is not the name of a merchant"), help)
        })
    }

    fn schema() -> Value {
        text_schema("merchant")
    }
}

impl ScriptRights {
    pub fn get(&self, env: &dyn EnvSource) -> Result<Rights, ConfigError> {
        let powers = self.powers.iter().map(|(power, opened)| {
            let whose = match opened {
                PowerScope::All(word) => {
                    resolve_optional(word.as_ref(), env)?;
                    AllowedMerchants::All
                }
                PowerScope::Merchants(names) => {
                    let names = names.iter().map(|name| Ok(name.get(env)?.0));
                    AllowedMerchants::Some(names.collect::<Result<BTreeSet<_>, ConfigError>>()?)
                }
            };
            Ok((power.get(env)?, whose))
        });
        Ok(Rights::new(powers.collect::<Result<Vec<_>, ConfigError>>()?))
    }
}

impl ConfigReader<'_> {
    pub(crate) fn script_rights(&mut self, policy: &Node) -> ScriptRights {
        let Some(node) = self.section(policy, "scripts", &["allow"]) else {
            return ScriptRights::default();
        };
        let Some(entry) = node.present("allow") else { return ScriptRights::default() };
        let powers = match &entry.value.value {
            NodeValue::Seq(items) => items.iter().filter_map(|one| self.power(one)).collect(),
            NodeValue::Map(_) => self.powers_by_merchant(&entry.value),
            NodeValue::Scalar { .. } | NodeValue::Skipped => {
                let message = "`allow` must be a list or a mapping";
                self.invalid(entry.key_span.clone(), message, EXAMPLE);
                Vec::new()
            }
        };
        ScriptRights { powers }
    }

    fn power(&mut self, node: &Node) -> Option<(Setting<ScriptPower>, PowerScope)> {
        Some((self.scalar(node, node.span.clone())?, PowerScope::All(None)))
    }

    fn powers_by_merchant(&mut self, node: &Node) -> Vec<(Setting<ScriptPower>, PowerScope)> {
        self.report_unknown_keys(node, &ScriptPower::ALL.map(ScriptPower::word));
        let known = node.entries().iter();
        let known =
            known.filter_map(|entry| Some((ScriptPower::from_word(&entry.key)?, &entry.value)));
        let opened = known.filter_map(|(power, value)| {
            let opened = if matches!(value.value, NodeValue::Seq(_)) {
                PowerScope::Merchants(self.scalars(value.items()))
            } else {
                PowerScope::All(Some(self.scalar(value, value.span.clone())?))
            };
            Some((Setting::Literal(power), opened))
        });
        opened.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::settings::Config;

    struct Nothing;

    impl EnvSource for Nothing {
        fn var(&self, _: &str) -> Option<String> {
            None
        }
    }

    fn check(policy: &str) -> Result<PruneGuards, Vec<String>> {
        let text = format!("apiVersion: reckon.dev/v1\nkind: Config\npolicy:\n{policy}");
        match Config::parse("reckon.yaml", Path::new("."), text.into_bytes()) {
            Ok(config) => Ok(config.policy.prune.get(&Nothing).unwrap()),
            Err(broken) => Err(broken.problems.iter().map(|one| one.message.clone()).collect()),
        }
    }

    #[test]
    fn a_guard_knows_where_it_is_set() {
        let prune =
            check("  prune:\n    percent: 50%\n    empty: allow\n    delay: 72h\n").unwrap();
        assert_eq!((prune.percent.value, prune.percent.set_at.as_str()), (50, "reckon.yaml:5"));
        assert_eq!(
            (prune.refuse_empty.value, prune.refuse_empty.set_at.as_str()),
            (false, "reckon.yaml:6")
        );
        assert_eq!(
            (prune.refuse_renames.value, prune.refuse_renames.set_at.as_str()),
            (true, "default")
        );
        assert_eq!(prune.delay.value, Duration::from_hours(72));
        assert_eq!(check("  amounts: minor\n").unwrap(), PruneGuards::default());
    }

    #[test]
    fn what_is_wrong_is_told() {
        let wrong = check(
            "  prune:\n    percent: 130\n    empty: maybe\n    delay: soon\n    persent: 1\n",
        );
        let wrong = wrong.unwrap_err();
        assert_eq!(wrong.len(), 4, "{wrong:?}");
    }
}
